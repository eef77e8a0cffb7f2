"""From what was seen of a case's arms to one word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.case import ArmExpect, Case, VersionedExpect
from harness.run.trace import ArmTrace
from harness.verdict.arm import ArmJudgement, hold
from harness.verdict.rules import Seen, decide
from harness.verdict.word import Verdict, exit_code

__all__ = [
    "Judgement",
    "Verdict",
    "exit_code",
    "infra",
    "judge",
    "skipped",
    "with_contrasts",
]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a case, and what it rests on.

    Attributes
    ----------
    verdict : Verdict
    arms : dict of str to ArmJudgement
        Those that were run, ``stock`` first.
    reason : str
        One sentence.
    contrasts : dict of str to Judgement
        By title. A contrast that fails decides the verdict of the case: see `with_contrasts`.
    """

    verdict: Verdict
    arms: dict[str, ArmJudgement]
    reason: str
    contrasts: dict[str, Judgement] = field(default_factory=dict)


def judge(
    case: Case, expect: VersionedExpect | None, traces: Mapping[str, Sequence[ArmTrace]]
) -> Judgement:
    """Judge a case without its contrasts.

    Parameters
    ----------
    case : Case
    expect : VersionedExpect or None
        What `Case.expectation` gave for the TVM at hand.
    traces : mapping of str to sequence of ArmTrace
        By arm, one trace a repeat. An arm that was not run is left out: what was seen is judged.
    """
    if expect is None:
        return skipped(f"no expectation of {case.id} speaks of this TVM")
    arms = {
        name: hold(name, expect.arms.get(name, ArmExpect()), traces[name])
        for name in ("stock", "fixed")
        if traces.get(name)
    }
    if not arms:
        return infra("no arm of it was run")
    verdict, reason = decide(Seen(arms, expect.arms.get("stock", ArmExpect()), case.arms))
    return Judgement(verdict, arms, reason)


def skipped(reason: str) -> Judgement:
    """A case that was not run, because it says itself that it should not be."""
    return Judgement(Verdict.SKIPPED, {}, reason)


def infra(reason: str) -> Judgement:
    """A case of which nothing can be said, for no fault of its own."""
    return Judgement(Verdict.INFRA, {}, reason)


def with_contrasts(main: Judgement, contrasts: Mapping[str, Judgement]) -> Judgement:
    """The judgement of a case whose contrasts must hold too.

    The worst failing verdict counts, the case's own before a contrast's equal to it. So
    ``fixed-upstream`` stands only when every contrast holds: a contrast that fails says that more
    has changed than the bug.
    """
    worst = main
    for title, contrast in contrasts.items():
        if not contrast.verdict.passes and contrast.verdict.severity > worst.verdict.severity:
            reason = f"contrast {title!r}: {contrast.reason}"
            worst = replace(main, verdict=contrast.verdict, reason=reason)
    return replace(worst, contrasts=dict(contrasts))
