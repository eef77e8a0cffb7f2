"""Whether the bug of a case is there, whatever release its expectation speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from harness import campaign
from harness.case import Case
from harness.run.pool import Pool
from harness.run.trace import ArmTrace
from harness.verdict.arm import ArmJudgement, hold
from harness.verdict.expectation import expects_failure
from harness.verdict.outcome import first_failure
from harness.verdict.words import describe


class State(str, Enum):
    """What can be said of a bug on one TVM."""

    PRESENT = "present"
    ABSENT = "absent"
    UNKNOWN = "cannot be judged"


@dataclass(frozen=True, slots=True)
class Sighting:
    """What was seen.

    Attributes
    ----------
    state : State
    why : str
        One sentence.
    seen, runs : int
        In how many runs the bug showed, of how many.
    """

    state: State
    why: str
    seen: int = 0
    runs: int = 0

    def __str__(self) -> str:
        times = f" in {self.seen} of {self.runs} runs" if self.runs > 1 else ""
        return f"{self.state.value}{times}: {self.why}"


def look_for(case: Case, repeat: int, pool: Pool) -> Sighting:
    """Run the stock arm of a case, without its contrasts, and say whether its bug is there.

    The bug is any failure that an entry of `expect:` describes: which release the entry speaks of
    does not matter, since a checkout between two releases calls itself by either. A guard's bug is
    any failure. Absent is only said when the canaries are judged rightly.

    Parameters
    ----------
    case : Case
    repeat : int
        How often to run it, if that is more than the case asks for.
    pool : Pool
    """
    reason = campaign.reason_to_skip(case, pool.info)
    if reason and not reason.startswith("expect:"):
        return Sighting(State.UNKNOWN, reason)
    runs = case.model_copy(update={"repeat": max(case.repeat, repeat), "fix": ""})
    traces = [trace for _, trace in pool.run([campaign.jobs_of(runs, ("stock",))])]
    found = sighting(case, traces)
    if found.state is State.ABSENT and (wrong := campaign.misjudged_canaries()):
        return Sighting(State.UNKNOWN, f"it looks absent, but canaries were misjudged: {wrong}")
    return found


def sighting(case: Case, traces: Sequence[ArmTrace]) -> Sighting:
    """What the runs of a stock arm say."""
    entries = [entry.arms["stock"] for entry in case.expect]
    failing = [one for one in entries if any(map(expects_failure, one.stages.values()))]
    held = [hold("stock", expect, traces) for expect in failing or entries]
    first = held[0]
    if first.lost:
        return Sighting(State.UNKNOWN, "the fork server went away under it")
    if all(arm.refused_to_load for arm in held):
        return Sighting(State.UNKNOWN, f"it does not load here: {_failure(first)}")
    seen = [_shows(held, index, guard=not failing) for index in range(len(traces))]
    if any(seen):
        others = [run for run, shown in zip(first.runs, seen, strict=True) if run.failed > shown]
        if others:
            return Sighting(State.UNKNOWN, f"some runs fail in another way: {_failure(first)}")
        return Sighting(State.PRESENT, _failure(first), sum(seen), len(seen))
    if first.failed:
        return Sighting(State.UNKNOWN, f"it fails in another way: {_failure(first)}")
    right = not failing or any(arm.right_where_failure_was_expected for arm in held)
    if not right:
        return Sighting(State.UNKNOWN, "the stages that should fail were not reached")
    return Sighting(State.ABSENT, "all stages are ok", 0, len(seen))


def _shows(held: Sequence[ArmJudgement], index: int, guard: bool) -> bool:
    """Whether the run of that index fails as some entry says; a guard's in any way."""
    return any(
        arm.runs[index].failed and (guard or not arm.runs[index].differences) for arm in held
    )


def _failure(arm: ArmJudgement) -> str:
    failed = first_failure(arm.stages)
    return f"{failed.stage.value}: {describe(failed)}" if failed else "nothing failed"


def chance(rate: float, runs: int) -> float:
    """How likely a bug that shows at `rate` stays unseen in so many runs."""
    return (1.0 - rate) ** runs
