"""Running a new case once, and what was seen of it in the words of a case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from harness import campaign
from harness.case import Case
from harness.compat import canonical
from harness.run.lane import Job
from harness.run.pool import Pool
from harness.triage.new.failure import Failure, message_pattern
from harness.verdict.normalise import normalise
from harness.verdict.outcome import Crash, Error, Outcome, StageResult, stages
from harness.verdict.seen import as_data
from harness.verdict.words import describe, kind

# Of the words of two messages: releases print the objects in them differently.
_ALIKE = 0.75


@dataclass(frozen=True, slots=True)
class Observation:
    """What one run of the stock arm showed.

    Attributes
    ----------
    expectation : Any
        ``ok``, or stages with their outcomes, as under ``expect:``.
    failed : tuple of str
        Every stage that failed, in a line.
    stages : tuple of StageResult
    """

    expectation: Any
    failed: tuple[str, ...]
    stages: tuple[StageResult, ...]


def observe(case: Case, pool: Pool) -> Observation | str:
    """Run a case once on an entered `pool`; a text says why it cannot be run here."""
    reason = campaign.reason_to_skip(case, pool.info)
    if reason:
        return reason
    ((_, trace),) = pool.run([[Job(case, "stock")]])
    seen = stages(trace)
    failed = tuple(f"{one.stage.value}: {describe(one)}" for one in seen if one.failed)
    return Observation(as_data(seen), failed, seen)


def as_reported(failure: Failure, seen: Sequence[StageResult]) -> bool:
    """Whether some stage failed as the report says, wherever that was."""
    return any(_same(failure, result.outcome) for result in seen if result.failed)


def _same(failure: Failure, outcome: Outcome) -> bool:
    match outcome:
        case Error(type=name, message=message):
            if failure.kind != "error" or canonical(failure.detail) != canonical(name):
                return False
            pattern = message_pattern(failure.message)
            if pattern and re.search(pattern, message):
                return True
            wanted, came = (normalise(one).split() for one in (failure.message, message))
            return SequenceMatcher(None, wanted, came, autojunk=False).ratio() >= _ALIKE
        case Crash(signal=signal):
            return failure.kind == "crash" and failure.detail == signal
    return failure.kind == kind(outcome)
