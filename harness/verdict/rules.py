"""The verdict table: what has to be seen for each word, and why it was given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.case import ArmExpect
from harness.run.trace import Stage
from harness.verdict.arm import ArmJudgement
from harness.verdict.expectation import differences, expects_failure
from harness.verdict.word import Verdict
from harness.verdict.words import describe


@dataclass(frozen=True, slots=True)
class Seen:
    """The arms that were run, by name, and what stock is expected to do even when it was not."""

    arms: dict[str, ArmJudgement]
    stock_expect: ArmExpect
    asked: tuple[str, ...]  # the arms the case has

    @property
    def first(self) -> ArmJudgement:
        """`stock`, or `fixed` when only that was run."""
        return self.arms["stock" if "stock" in self.arms else "fixed"]


Test = Callable[[Seen], bool]
Reason = Callable[[Seen], str]


def decide(seen: Seen) -> tuple[Verdict, str]:
    """The verdict on what was seen, and the reason for it in one sentence."""
    return next((verdict, reason(seen)) for verdict, test, reason in _TABLE if test(seen))


def _stock(test: Callable[[ArmJudgement], bool]) -> Test:
    return lambda seen: "stock" in seen.arms and test(seen.arms["stock"])


def _fixed(test: Callable[[ArmJudgement], bool]) -> Test:
    return lambda seen: "fixed" in seen.arms and test(seen.arms["fixed"])


def _some(test: Callable[[ArmJudgement], bool]) -> Test:
    return lambda seen: any(test(arm) for arm in seen.arms.values())


def _as_in_stock(seen: Seen) -> bool:
    """Whether the fixed arm differs, and all that fails in it is what fails in stock."""
    fixed = seen.arms.get("fixed")
    if fixed is None or fixed.as_expected or not fixed.failed:
        return False
    stock = seen.arms["stock"].signatures() if "stock" in seen.arms else frozenset()
    as_seen = fixed.signatures() <= stock
    as_expected = any(not differences(seen.stock_expect, run.stages) for run in fixed.runs)
    return as_seen or as_expected


def _without_effect(seen: Seen) -> bool:
    """Whether the fix took no part, though it should have.

    One that found nothing to patch always should have. One that was installed and never called
    should have when stock fails: then something else made the difference. An arm that died may
    not have come to telling.
    """
    fixed = seen.arms.get("fixed")
    if fixed is None:
        return False
    stock = seen.arms.get("stock")
    needed = stock.failed if stock else any(map(expects_failure, seen.stock_expect.stages.values()))
    for run in fixed.runs:
        fix = run.trace.fix
        if fix is None:
            if run.trace.end.final and not run.outcome_of(Stage.LOAD).failed:
                return True
        elif not fix.applied or (needed and not fix.used):
            return True
    return False


def _in_stock(words: str) -> Reason:
    return lambda seen: _first_difference(seen.arms["stock"], words)


def _in_fixed(words: str) -> Reason:
    return lambda seen: _first_difference(seen.arms["fixed"], words)


def _in_first(words: str) -> Reason:
    return lambda seen: _first_difference(seen.first, words)


def _first_difference(arm: ArmJudgement, words: str) -> str:
    if not arm.differences:  # expected, but nothing that may be
        failed = next(result for result in arm.stages if result.failed)
        return f"{arm.arm}: {words}; {failed.stage.value}: {describe(failed)}"
    first = arm.differences[0]
    stage = first.stage.value
    return f"{arm.arm}: {words}; {stage}: expected {first.expected}, saw {first.seen}"


def _why_without_effect(seen: Seen) -> str:
    states = [run.trace.fix for run in seen.arms["fixed"].runs if run.trace.fix is not None]
    if not states:
        return "fixed: nothing was told of the fix"
    fix = next((fix for fix in states if not (fix.applied and fix.used)), states[0])
    if fix.applied:
        return f"fixed: {fix.name} was installed, and nothing called it"
    return f"fixed: {fix.name} found nothing to patch: {fix.detail}".rstrip(": ")


def _met(seen: Seen) -> str:
    arm = seen.first
    what = "fails as expected" if arm.failed else "all ok, as expected"
    if not arm.failed and arm.expects_failure:
        times = f"{len(arm.runs)} of {len(arm.runs)} runs"
        what = f"ok in {times}, which the case allows: neither seen to fail nor known to be fixed"
    only = f"; only the {arm.arm} arm was run" if len(seen.arms) < len(seen.asked) else ""
    return f"{what}{only}"


# In order: the first that applies is the verdict. What is wrong with the run comes before what is
# wrong with stock, and only when stock is as expected is the fix looked at: a good fixed arm never
# makes up for a stock arm that was not understood.
_TABLE: tuple[tuple[Verdict, Test, Reason], ...] = (
    (Verdict.INFRA, _some(lambda arm: arm.lost), lambda _: "the fork server went away under it"),
    (Verdict.FLAKY, _stock(lambda arm: arm.disagrees), _in_stock("repeats disagree")),
    (
        Verdict.UNRUNNABLE,
        _some(lambda arm: arm.refused_to_load),
        _in_first("the case does not load on this TVM"),
    ),
    (
        Verdict.FIXED_UPSTREAM,
        _stock(lambda arm: not arm.as_expected and arm.right_where_failure_was_expected),
        _in_stock("all ok where a failure was expected"),
    ),
    (
        Verdict.REGRESSED,
        _stock(lambda arm: not arm.as_expected and not arm.expects_failure),
        _in_stock("fails where all was expected ok"),
    ),
    (
        Verdict.DRIFTED,
        _stock(lambda arm: not arm.as_expected),
        _in_stock("fails in another way than expected"),
    ),
    (Verdict.FIX_NOT_APPLIED, _without_effect, _why_without_effect),
    (Verdict.FLAKY, _fixed(lambda arm: arm.disagrees), _in_fixed("repeats disagree")),
    (Verdict.FIX_INEFFECTIVE, _as_in_stock, _in_fixed("still fails as stock does")),
    (
        Verdict.FIX_HARMFUL,
        _fixed(lambda arm: not arm.as_expected and arm.failed),
        _in_fixed("fails in a way that stock does not"),
    ),
    (
        Verdict.DRIFTED,
        _fixed(lambda arm: not arm.as_expected),
        _in_fixed("does better than the case says"),
    ),
    (Verdict.REPRODUCES, lambda seen: seen.first.failed, _met),
    (Verdict.GUARDS, lambda _: True, _met),
)
