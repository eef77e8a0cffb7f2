"""What locating a bug came to: the pass that made it, on which grounds, and who noticed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from harness.run.trace import PassRun, Stage
from harness.run.watch import Path
from harness.verdict.outcome import Mismatch, StageResult, first_failure
from harness.verdict.recording import Recording
from harness.verdict.signature import same_bug, signature


class Trial(str, Enum):
    """What a run came to that left a pass out."""

    RIGHT = "right"  # all stages: the bug needs the pass
    SAME = "same"  # the bug is there without it
    OTHER = "other"  # something else fails: the pass cannot be left out


class Ground(str, Enum):
    """Why a pass is named."""

    ILL_FORMED = "leaves the module ill-formed"
    INSIDE = "fails inside"
    NEEDED = "right without it"
    FIRST = "first that can run"
    ONLY = "the only one that changed the module"


@dataclass(frozen=True, slots=True)
class Culprit:
    """The pass that is named, and the ground for it."""

    run: PassRun
    ground: Ground


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of where a bug comes from.

    Attributes
    ----------
    stages : tuple of StageResult
        Of a run that nobody watched.
    recording : Recording
        Of another one; `odd` says when that failed otherwise.
    trials : dict of Path to Trial
        By the pass that was left out.
    culprit : Culprit or None
    why_none : str
        When no pass is named.
    ir : (str, str) or None
        Before and after the pass that is named; "" when the IR could not be had.
    """

    arm: str
    stages: tuple[StageResult, ...]
    recording: Recording
    trials: Mapping[Path, Trial] = field(default_factory=dict)
    culprit: Culprit | None = None
    why_none: str = ""
    odd: str = ""
    ir: tuple[str, str] | None = None

    @property
    def noticed(self) -> StageResult | None:
        """The first stage that complained by itself; a check after a pass only if none did."""
        return noticed(self.stages)


def noticed(stages: Sequence[StageResult]) -> StageResult | None:
    """The first stage that fails without being asked for a check, else the first that fails."""
    checks = (Stage.INPUT, Stage.WELL_FORMED)
    by_itself = (one for one in stages if one.failed and one.stage not in checks)
    return next(by_itself, None) or first_failure(stages)


def trial(seen: Sequence[StageResult], without: Sequence[Sequence[StageResult]]) -> Trial:
    """Hold runs that left a pass out, at least one, against what is seen with it."""
    if not any(one.failed for stages in without for one in stages):
        return Trial.RIGHT
    return Trial.SAME if any(_same(seen, stages) for stages in without) else Trial.OTHER


def _same(seen: Sequence[StageResult], other: Sequence[StageResult]) -> bool:
    """Whether the same complaint comes; of wrong values it is enough that they are wrong."""
    one, two = noticed(seen), noticed(other)
    if one is None or two is None:
        return False
    if isinstance(one.outcome, Mismatch) and isinstance(two.outcome, Mismatch):
        return (one.stage, one.at) == (two.stage, two.at)
    return same_bug(signature([one]), signature([two]))
