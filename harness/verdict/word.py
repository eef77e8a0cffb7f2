"""The words a case can come to, and what they mean for a run."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

# Exit codes of the command line; 0 is that every expectation was met.
DIFFERS, USAGE, INFRA, INTERRUPTED = 1, 2, 3, 130


class Verdict(str, Enum):
    """What a case came to."""

    REPRODUCES = "reproduces"
    GUARDS = "guards"
    FIXED_UPSTREAM = "fixed-upstream"
    REGRESSED = "regressed"
    DRIFTED = "drifted"
    FIX_INEFFECTIVE = "fix-ineffective"
    FIX_HARMFUL = "fix-harmful"
    FIX_NOT_APPLIED = "fix-not-applied"
    UNRUNNABLE = "unrunnable"
    FLAKY = "flaky"
    SKIPPED = "skipped"
    INFRA = "infra"

    @property
    def passes(self) -> bool:
        """Whether a run with it may be green."""
        return self in (Verdict.REPRODUCES, Verdict.GUARDS, Verdict.SKIPPED)

    @property
    def severity(self) -> int:
        """Rank among verdicts, the most alarming highest."""
        return _BY_SEVERITY.index(self)


def exit_code(verdicts: Iterable[Verdict], usage: bool = False) -> int:
    """0 all expectations met, 1 a verdict differs, 2 a case or the usage is wrong, 3 infra.

    A case that does not load on this TVM is a case that is wrong.

    Parameters
    ----------
    verdicts : iterable of Verdict
    usage : bool
        Whether a case file could not be read, or the command line is wrong.
    """
    given = set(verdicts)
    if Verdict.INFRA in given:
        return INFRA
    if usage or Verdict.UNRUNNABLE in given:
        return USAGE
    return int(any(not verdict.passes for verdict in given))


_BY_SEVERITY = (
    Verdict.GUARDS,
    Verdict.REPRODUCES,
    Verdict.SKIPPED,
    Verdict.FIXED_UPSTREAM,
    Verdict.FIX_INEFFECTIVE,
    Verdict.FIX_NOT_APPLIED,
    Verdict.FIX_HARMFUL,
    Verdict.FLAKY,
    Verdict.DRIFTED,
    Verdict.REGRESSED,
    Verdict.UNRUNNABLE,
    Verdict.INFRA,
)
