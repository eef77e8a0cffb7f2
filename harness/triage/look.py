"""Looking closer at a case: the IR before and after the pass at which something went wrong."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case import Case
from harness.run.lane import Job
from harness.run.pool import Pool
from harness.run.trace import Stage
from harness.run.watch import Watch
from harness.verdict.judge import Judgement
from harness.verdict.outcome import first_failure
from harness.verdict.words import message


@dataclass(frozen=True, slots=True)
class Look:
    """The IR around one pass in one arm; `after` is "" when the pass does not come to an end."""

    arm: str
    at: str
    before: str
    after: str


def pass_of_interest(case: Case, judgement: Judgement) -> int:
    """Index of the first pass at which any arm failed; of the last pass when none did."""
    names = [spec.name for spec in case.passes]
    for arm in judgement.arms.values():
        for result in arm.stages:
            if result.stage in (Stage.PASS, Stage.WELL_FORMED) and result.at in names:
                return names.index(result.at)
    return len(names) - 1


def look(case: Case, arms: tuple[str, ...], index: int, pool: Pool) -> dict[str, Look]:
    """Print the IR before and after pass `index`, in children of their own, for each arm.

    An arm in which it cannot be had (the pass raises, printing dies) is left out.
    """
    if not case.passes:
        return {}
    shown = Watch(show=(index, 0))  # all that a pass of the case does is done in one
    jobs = [Job(case, arm, shown) for arm in case.arms if arm in arms]
    name = case.passes[index].name
    return {job.arm: Look(job.arm, name, *trace.ir) for job, trace in pool.run([jobs]) if trace.ir}


def complaint(judgement: Judgement, arm: str) -> str:
    """What the first failing stage of an arm said; "" when none did."""
    stages = judgement.arms[arm].stages if arm in judgement.arms else ()
    failed = first_failure(stages)
    return message(failed.outcome) if failed else ""
