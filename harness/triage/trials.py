"""Runs that leave a pass out: is the bug there without it?"""

from __future__ import annotations

from collections.abc import Sequence

from harness.case import Case
from harness.run.lane import Job
from harness.run.pool import Pool
from harness.run.trace import PassRun
from harness.run.watch import Path, Watch
from harness.verdict.finding import Trial, trial
from harness.verdict.outcome import Hang, StageResult, stages
from harness.verdict.recording import Recording

# A run with a pass left out may take so much longer than one with it.
_PATIENCE = 10
_LEAST_SECONDS = 2.0


def leave_out(
    case: Case,
    arm: str,
    seen: Sequence[StageResult],
    recording: Recording,
    tried: Sequence[PassRun],
    pool: Pool,
) -> dict[Path, Trial]:
    """Run without each pass of `tried`, and hold what happens against what is `seen` with it.

    Passes of the same name go together: what the first does not do, the next one will.
    """
    quick = in_a_hurry(case, seen)
    jobs = [Job(quick, arm, Watch(without=recording.namesakes(one))) for one in tried]
    halves = [half * case.repeat for half in (jobs[::2], jobs[1::2]) if half]
    runs: dict[Path, list[tuple[StageResult, ...]]] = {}
    for job, trace in pool.run(halves):
        runs.setdefault(job.watch.without[0], []).append(stages(trace))
    return {path: trial(seen, those) for path, those in runs.items()}


def in_a_hurry(case: Case, seen: Sequence[StageResult]) -> Case:
    """The case with a time limit that fits: no hang should be waited for in full each time."""
    worked = sum(one.seconds for one in seen if not isinstance(one.outcome, Hang))
    seconds = min(case.limits.seconds, max(_LEAST_SECONDS, _PATIENCE * worked))
    return case.model_copy(update={"limits": case.limits.model_copy(update={"seconds": seconds})})
