"""The end of reducing: the result, checked from scratch in fresh processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fixes
from harness import campaign
from harness.case import Case, parse_case
from harness.run.pool import Pool
from harness.triage.entry import as_seen
from harness.triage.reduce.goal import Goal
from harness.triage.reduce.program import Data, Program
from harness.triage.reduce.smallcase import SmallCase
from harness.verdict.signature import signature


def finish(case: Case, written: Data, small: SmallCase, best: Program, goal: Goal) -> str:
    """Write the result with what is seen of it; returns what is wrong with it, or "".

    What was left out to save time is put back. The author's expectation stays where it holds.

    Raises
    ------
    ServerError
    """
    complaint = ""
    with Pool() as pool:
        for program in _endings(written, best):
            for text in _texts(case, written, small, program, pool):
                report = _report(text, small.path, pool)
                arm = report.judgement.arms.get("stock")
                if arm is None or signature(arm.stages) != goal.signature:
                    complaint = (
                        f"run again, it does not fail in this way: {report.judgement.reason}"
                    )
                    break
                if report.verdict.passes:
                    small.write(text)
                    return ""
                complaint = report.judgement.reason
    return complaint


def _endings(written: Data, best: Program) -> Iterator[Program]:
    """The program with the stages behind the failure, and without."""
    if best.data.get("build") is False and written.get("build") is not False:
        data = {key: value for key, value in best.data.items() if key != "build"}
        yield Program(
            best.module, {**data, **({"build": b} if (b := written.get("build")) else {})}
        )
    yield best


def _texts(
    case: Case, written: Data, small: SmallCase, program: Program, pool: Pool
) -> Iterator[str]:
    """The file with the author's expectation, and with what is seen."""
    entries = written["expect"] if isinstance(written["expect"], list) else [written["expect"]]
    entry = entries[case.expect.index(_spoken(case, pool))]
    versions = {k: entry[k] for k in ("tvm", "ffi") if isinstance(entry, dict) and k in entry}
    own = small.text(program, [entry] if versions else entry, True)
    yield own
    judged = _report(own, small.path, pool).judgement
    seen = as_seen(entry, judged.arms, bool(case.fix))
    yield small.text(program, [seen] if versions else seen, True)


def _spoken(case: Case, pool: Pool) -> Any:
    """The expectation that speaks of the TVM at hand."""
    return case.expectation(pool.info.tvm, pool.info.tvm_ffi)


def _report(text: str, path: Path, pool: Pool) -> campaign.CaseReport:
    case = parse_case(text, path, fixes=fixes.names())
    (report,) = campaign.run_cases([case], campaign.Options(), pool)
    return report
