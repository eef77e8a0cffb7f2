"""What makes two failures the same bug, whatever the release, the module's names or the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from harness.compat import canonical
from harness.run.trace import Stage
from harness.verdict.frames import top_frames
from harness.verdict.normalise import normalise
from harness.verdict.outcome import Crash, Error, Exit, Oom, StageResult
from harness.verdict.words import kind, message


class NoFailure(Enum):
    """The signature of an arm in which nothing failed."""

    NO_FAILURE = "no failure"

    def __str__(self) -> str:
        return self.value


NO_FAILURE: Final = NoFailure.NO_FAILURE


@dataclass(frozen=True, slots=True)
class Signature:
    """One failure without what varies.

    Attributes
    ----------
    stage : Stage
    at : str
        The pass, by its name of today; "" when the stage has no parts.
    failure : str
        Class of the exception, name of the signal, or the kind of failure: ``ValueError``,
        ``SIGSEGV``, ``exit 0``, ``hang``, ``oom``, ``mismatch``.
    message : str
        Normalised: see `harness.verdict.normalise`.
    frames : tuple of str
        Names of the innermost functions of TVM's own, without arguments, innermost last.
    """

    stage: Stage
    at: str
    failure: str
    message: str
    frames: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"{self.stage.value} {self.at}".strip()
        parts = (place, self.failure, self.message, " < ".join(reversed(self.frames)))
        return " | ".join(part for part in parts if part)


def signatures(stages: Sequence[StageResult]) -> tuple[Signature, ...]:
    """One signature for every stage that failed, in order."""
    return tuple(_of(result) for result in stages if result.failed)


def signature(stages: Sequence[StageResult]) -> Signature | NoFailure:
    """The signature of the first stage that failed: the later ones mostly follow from it."""
    return next(iter(signatures(stages)), NO_FAILURE)


def same_bug(one: Signature | NoFailure, other: Signature | NoFailure) -> bool:
    """Whether two arms failed for the same reason. No failure is not a bug, and equals none."""
    return isinstance(one, Signature) and one == other


def _of(result: StageResult) -> Signature:
    outcome = result.outcome
    at = canonical(result.at)
    match outcome:
        case Oom():  # in which form it shows, and where, is chance
            return Signature(result.stage, at, "oom", "")
        case Error():
            failure, frames = canonical(outcome.type), top_frames(outcome.frames)
        case Crash():
            failure, frames = outcome.signal, top_frames(tuple(reversed(outcome.frames)))
        case Exit():
            failure, frames = f"exit {outcome.code}", ()
        case _:
            failure, frames = kind(outcome), ()
    return Signature(result.stage, at, failure, normalise(message(outcome)), frames)
