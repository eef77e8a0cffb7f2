"""Holding what was seen of an arm against what the case expects of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.case import (
    ArmExpect,
    CrashPattern,
    ErrorPattern,
    ExitPattern,
    HangPattern,
    MismatchPattern,
    OkPattern,
    OneOf,
    OomPattern,
    Pattern,
)
from harness.compat import canonical
from harness.run.trace import Stage
from harness.verdict.outcome import (
    Crash,
    Error,
    Exit,
    Hang,
    Mismatch,
    NotApplicable,
    NotReached,
    Ok,
    Oom,
    Outcome,
    Skipped,
    StageResult,
)
from harness.verdict.words import describe

_OK = OkPattern()


@dataclass(frozen=True, slots=True)
class Difference:
    """A stage that did not end as expected, both sides in the words of the case file."""

    stage: Stage
    expected: str
    seen: str


def differences(expect: ArmExpect, stages: Sequence[StageResult]) -> tuple[Difference, ...]:
    """Where `stages` are not as `expect` says, in order; empty when all is as expected.

    A stage that is not named is expected ok, or not reached when an earlier stage failed just as
    its pattern says. A failure that was expected in another form excuses nothing behind it.
    """
    found = []
    excused = False
    for result in stages:
        pattern = expect.stages.get(result.stage.value)
        if result.outcome == NotReached():
            met = excused and (pattern is None or may_be_ok(pattern))
        else:
            met = matches(_OK if pattern is None else pattern, result)
        if not met:
            expected = "ok" if pattern is None else pattern.describe()
            found.append(Difference(result.stage, expected, describe(result)))
        excused = excused or (met and result.failed)
    return tuple(found)


def matches(pattern: Pattern, result: StageResult) -> bool:
    """Whether a stage that was reached ended as `pattern` says."""
    if isinstance(pattern, OneOf):
        return same_place(pattern.at, result) and any(
            matches(one, result) for one in pattern.patterns
        )
    return same_place(pattern.at, result) and _same_outcome(pattern, result.outcome)


def may_be_ok(pattern: Pattern) -> bool:
    """Whether a `one_of` lets the stage be ok, so that it need not happen at all."""
    return isinstance(pattern, OneOf) and any(
        isinstance(one, OkPattern) for one in pattern.patterns
    )


def expects_failure(pattern: Pattern) -> bool:
    """Whether some outcome that `pattern` allows is a failure."""
    return not isinstance(pattern, OkPattern)


def same_place(at: str, result: StageResult) -> bool:
    """Whether `at`, the whole dotted name or its end, names the part that failed."""
    if not at or not result.failed:
        return True
    seen, named = canonical(result.at), canonical(at)
    return seen == named or seen.endswith(f".{named}")


def _same_outcome(pattern: Pattern, outcome: Outcome) -> bool:
    match pattern:
        case OkPattern():
            return isinstance(outcome, Ok | NotApplicable | Skipped)
        case OomPattern():
            return isinstance(outcome, Oom)
        case HangPattern():
            return isinstance(outcome, Hang)
        case MismatchPattern():
            return isinstance(outcome, Mismatch)
        case ExitPattern():
            return isinstance(outcome, Exit) and outcome.code == pattern.code
        case CrashPattern():
            crash = outcome.form if isinstance(outcome, Oom) else outcome
            return (
                isinstance(crash, Crash)
                and crash.signal == pattern.signal
                and _inside(pattern.in_, crash.frames)
            )
        case ErrorPattern():
            error = outcome.form if isinstance(outcome, Oom) else outcome
            return isinstance(error, Error) and _same_error(pattern, error)
        case _:
            return False


def _same_error(pattern: ErrorPattern, error: Error) -> bool:
    return (
        canonical(error.type) == canonical(pattern.type)
        and re.search(pattern.match, error.message) is not None
        and _inside(pattern.in_, error.frames)
    )


def _inside(regex: str, frames: Sequence[str]) -> bool:
    return not regex or any(re.search(regex, frame) for frame in frames)
