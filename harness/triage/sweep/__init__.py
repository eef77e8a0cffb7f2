"""``tvm-repro sweep``: every Relax pass that takes no argument, on every input."""

from harness.triage.sweep.finds import Known, grouped, known_in, known_of
from harness.triage.sweep.probes import Tally, sweep
from harness.triage.sweep.told import show, write

__all__ = ["Known", "Tally", "grouped", "known_in", "known_of", "show", "sweep", "write"]
