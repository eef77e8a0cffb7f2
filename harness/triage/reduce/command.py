"""``tvm-repro reduce``: from a case to the smallest one that fails in the same way."""

from __future__ import annotations

import os
import re
import signal
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

from rich.console import Console

from harness import campaign
from harness.case import Case
from harness.case.reading import read_tree
from harness.case.source import read_source
from harness.report.text import line
from harness.run.pool import Pool
from harness.triage.reduce.begin import CannotReduce, begin
from harness.triage.reduce.face import Face, pace
from harness.triage.reduce.finish import finish
from harness.triage.reduce.goal import without_what_is_behind
from harness.triage.reduce.moves import moves
from harness.triage.reduce.oracle import Candidate, Oracle
from harness.triage.reduce.program import Data, size
from harness.triage.reduce.search import Search
from harness.triage.reduce.smallcase import SmallCase, stock_as_seen
from harness.verdict.word import DIFFERS, INTERRUPTED

__all__ = ["CannotReduce", "reduce", "search_all"]


def reduce(path: Path, options: Namespace, out: Console) -> int:
    """Reduce the case at `path` as the command line says; returns the exit code.

    Raises
    ------
    CannotReduce
        There is nothing to reduce, or no way to.
    CaseFileError
    ServerError
    """
    target = Path(options.output or f"{path.stem}-small.yaml")
    _check_target(path, target, options.force)
    case = campaign.read_case(path)
    small = SmallCase(read_source(path), target)
    written: Data = read_tree(small.original).data
    _check_beside(case, written, small)
    began = time.monotonic()
    with Pool(options.jobs) as pool:
        start = begin(case, written, pool)
        out.print(f"{line(case.id)}: {line(str(start.oracle.goal.signature))}", soft_wrap=True)
        for remark in start.remarks:
            out.print(f"  {line(remark)}", soft_wrap=True)
        out.print(f"  from {size(start.program)}", soft_wrap=True)
        search = Search(start.oracle, start.program)
        search.accepted = lambda best: _keep(small, start.oracle, search)
        try:
            with _terminated_as_interrupted(), Face(out, search).shown():
                search_all(search, case, written)
        except KeyboardInterrupt:
            out.print(f"  to   {size(search.best)}", soft_wrap=True)
            where = f"the best so far is in {target}" if search.history else "nothing was smaller"
            out.print(f"interrupted after {search.oracle.calls} calls: {where}", soft_wrap=True)
            return INTERRUPTED
    out.print(f"  to   {size(search.best)}", soft_wrap=True)
    oracle, spent = search.oracle, time.monotonic() - began
    out.print(f"{oracle.calls} calls, {pace(oracle):.1f} a second; {spent:.0f} s in all")
    complaint = finish(case, written, small, search.best, oracle.goal)
    if complaint:
        out.print(f"{line(str(target))}: {line(complaint)}", style="wrong", soft_wrap=True)
        return DIFFERS
    out.print(f"no single change makes it smaller; checked from scratch: {target}", soft_wrap=True)
    return 0


def _check_target(path: Path, target: Path, force: bool) -> None:
    if target.suffix != ".yaml":
        raise CannotReduce(f"-o {target}: the name of a case file ends in .yaml")
    if target.exists() and (target.samefile(path) or not force):
        hint = "give another name by -o" if target.samefile(path) else "--force writes over it"
        raise CannotReduce(f"{target} is there already: {hint}")
    if not os.access(target.parent, os.W_OK):
        raise CannotReduce(f"{target.parent} is no folder that can be written to")


def _check_beside(case: Case, written: Data, small: SmallCase) -> None:
    """What a case names beside itself has to be beside the small one as well."""
    beside = small.path.resolve().parent == case.path.resolve().parent
    if not beside and "python" in str(written.get("passes", "")):
        raise CannotReduce(
            f"{case.id} has passes in a Python file beside it, so the small case has to go to the "
            f"same folder: -o {case.path.parent / small.path.name}"
        )


def search_all(search: Search, case: Case, written: Data) -> None:
    """Reduce; then see whether the result takes the whole time limit too, where that was cut."""
    oracle = search.oracle
    goal = oracle.goal
    careful = goal.careful(search.best)
    chosen = [one for one in moves(_named_in(written)) if not (careful and one.in_kernels)]
    cut = without_what_is_behind(search.best, goal.signature)
    found = oracle.first(Candidate(0, program) for program in cut)
    if found is not None:
        search.take(found.program)
    search.run(chosen)
    if goal.signature.failure == "hang" and goal.seconds < case.limits.seconds:
        patient = Oracle(case, oracle.pool, replace(goal, seconds=case.limits.seconds), oracle.told)
        patient.calls, patient.seconds = oracle.calls, oracle.seconds
        steps = (Candidate(0, one) for one in reversed(search.history))
        search.oracle = patient
        found = patient.first(steps)
        if found is not None and found.program != search.best:
            search.take(found.program)
            search.run(chosen)


def _named_in(written: Data) -> frozenset[str]:
    """Words that must not be renamed: those of the expectation, and the one name that is usual."""
    return frozenset({"main", *re.findall(r"\w+", str(written["expect"]))})


def _keep(small: SmallCase, oracle: Oracle, search: Search) -> None:
    """Write the best so far: a case that holds as it stands."""
    seen = search.oracle.seen[search.best.key]
    small.write(small.text(search.best, stock_as_seen(seen), False))


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
