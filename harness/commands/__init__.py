"""What the commands of ``tvm-repro`` do. Each takes the parsed options and returns an exit code."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from harness.commands import basic, triage
from harness.commands.inputs import UsageError
from harness.commands.nightly import nightly

__all__ = ["COMMANDS", "UsageError"]

COMMANDS: dict[str, Callable[[Namespace], int]] = {
    "run": basic.run,
    "compare": basic.compare,
    "diff": basic.diff,
    "history": basic.history,
    "report": basic.report,
    "lint": basic.lint,
    "list": basic.list_cases,
    "schema": basic.schema,
    "fixes": basic.fixes,
    "doctor": basic.doctor,
    "locate": triage.locate,
    "explain": triage.explain,
    "new": triage.new,
    "reduce": triage.reduce,
    "bless": triage.bless,
    "export": triage.export,
    "sweep": triage.sweep,
    "check": triage.check,
    "bisect": triage.bisect,
    "matrix": triage.matrix,
    "nightly": nightly,
}
