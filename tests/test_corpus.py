"""The corpus on the TVM at hand: every verdict, and that no expectation holds but the one given.

Cases run once, in random order, and what was seen is then held against expectations turned around
in every way: another stage, another class, another message, another pass, ok for a failure and a
failure for ok.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Literal

import pytest

from harness import campaign
from harness.case import (
    ArmExpect,
    BuildSpec,
    Call,
    Case,
    Check,
    CrashPattern,
    ErrorPattern,
    ExitPattern,
    Expression,
    FullArg,
    HangPattern,
    MismatchPattern,
    NoCheck,
    OkPattern,
    OneOf,
    OomPattern,
    Pattern,
    TextCheck,
    VersionedExpect,
    discover,
    load_case,
)
from harness.run.pool import Pool
from harness.run.trace import ArmTrace, Stage, TvmInfo
from harness.verdict.expectation import differences, expects_failure, matches
from harness.verdict.judge import Judgement, judge
from harness.verdict.outcome import StageResult
from harness.verdict.seen import as_expectation
from harness.verdict.word import Verdict

REPROS = Path(__file__).parents[1] / "repros"
NEVER = "never.seen.Pass"
NO_BUILD = BuildSpec(enabled=False)


@dataclass(frozen=True, slots=True)
class Observed:
    """A case or contrast with what it expects of this TVM, and what was seen."""

    case: Case
    expect: VersionedExpect
    traces: dict[str, list[ArmTrace]]
    judgement: Judgement


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return [campaign.read_case(path) for path in discover([REPROS])]


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(2) as pool:
        yield pool


def observe(
    cases: Sequence[Case], pool: Pool, arms: tuple[str, ...] = ("stock", "fixed")
) -> Iterator[Observed]:
    """Run cases with their contrasts; those that are skipped are left out."""
    for report in campaign.run_cases(cases, campaign.Options(arms, jobs=2), pool):
        case, whole = report.case, report.judgement
        seen = [(case, whole)]
        seen += [(one.case, whole.contrasts[one.title]) for one in case.contrasts if whole.arms]
        for variant, judgement in seen:
            expect = variant.expectation(pool.info.tvm, pool.info.tvm_ffi)
            if judgement.arms and expect is not None:
                traces = {
                    name: [run.trace for run in arm.runs] for name, arm in judgement.arms.items()
                }
                yield Observed(variant, expect, traces, judgement)


def test_corpus(cases: list[Case], pool: Pool, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    cases = random.Random(seed).sample(cases, len(cases))
    seen = list(observe(cases, pool))
    wrong = [
        f"{one.case.id}: {one.judgement.verdict.value}: {one.judgement.reason}"
        for one in seen
        if not one.judgement.verdict.passes
    ]
    assert not wrong, "\n".join([f"(order: seed {seed})", *wrong])
    ran = {one.case.id for one in seen}
    unseen = [case for case in cases if case.id not in ran]
    assert all(campaign.reason_to_skip(case, pool.info) for case in unseen), unseen

    survivors = [text for one in seen for text in survived(one)]
    survivors += list(mistaken(seen))
    survivors += [text for one in seen for text in not_as_told(one, tmp_path)]
    assert not survivors, "\n".join(survivors)


@pytest.mark.parametrize("arm", ["stock", "fixed"])
def test_values_turned_around(arm: str, cases: list[Case], pool: Pool) -> None:
    """What a case compares, values and IR texts, is compared: the contrary does not hold."""
    turned = [one for case in cases for one in with_checks_turned(case, arm, pool.info)]
    assert turned
    # Each a case of its own, as far as the campaign knows.
    turned = [
        one.model_copy(update={"path": one.path.with_name(f"{number}.yaml")})
        for number, one in enumerate(turned)
    ]
    survivors = [
        f"{one.case.id}, {arm}: {one.judgement.verdict.value}"
        for one in observe(turned, pool, (arm,))
        if one.judgement.verdict.passes
    ]
    assert not survivors, "\n".join(survivors)


def survived(one: Observed) -> Iterator[str]:
    """Mutants of the expectation that what was seen meets all the same."""
    count = 0
    for name, arm in one.judgement.arms.items():
        expect = one.expect.arms[name]
        for what, stages in mutants(expect, arm.stages):
            arms = {**one.expect.arms, name: expect.model_copy(update={"stages": stages})}
            mutant = one.expect.model_copy(update={"arms": arms})
            verdict = judge(one.case, mutant, one.traces).verdict
            count += 1
            if verdict.passes and verdict is not Verdict.SKIPPED:
                yield f"{one.case.id}, {name}: {what} is {verdict.value} as well"
    assert count >= len(Stage)


def mutants(
    expect: ArmExpect, seen: Sequence[StageResult]
) -> Iterator[tuple[str, dict[str, Pattern]]]:
    """The stages of `expect`, turned around in one way each."""
    named = expect.stages
    failing = {stage for stage, pattern in named.items() if expects_failure(pattern)}
    if failing:
        yield "all ok", {}
    for stage in failing:
        pattern = named[stage]
        others = {key: value for key, value in named.items() if key != stage}
        yield f"{stage} ok", others
        for other in Stage:
            if other.value not in named:
                yield f"{stage} at {other.value}", {**others, other.value: pattern}
        result = next(one for one in seen if one.stage.value == stage)
        for mutant in turned_around(pattern, result):
            yield f"{stage}: {mutant.describe()}", {**others, stage: mutant}
    for stage in Stage:
        if stage.value not in failing:
            for failure in (ErrorPattern(type="ValueError"), CrashPattern(signal="SIGSEGV")):
                yield f"{stage.value} fails", {**named, stage.value: failure}


def turned_around(pattern: Pattern, seen: StageResult) -> Iterator[Pattern]:
    """`pattern` with another class, message or pass."""
    match pattern:
        case OneOf():
            left = tuple(one for one in pattern.patterns if not matches(one, seen))
            if len(left) < len(pattern.patterns) and left:
                yield left[0] if len(left) == 1 else OneOf(patterns=left, at=pattern.at)
            return
        case ErrorPattern():
            if not (pattern.match or pattern.in_):
                yield pattern  # survives: any message would do
            yield pattern.model_copy(update={"type": f"Other{pattern.type}"})
            yield pattern.model_copy(update={"match": "never said", "in_": ""})
            yield pattern.model_copy(update={"match": "", "in_": "never_called"})
        case CrashPattern():
            other = "SIGBUS" if pattern.signal != "SIGBUS" else "SIGSEGV"
            yield pattern.model_copy(update={"signal": other})
            yield pattern.model_copy(update={"in_": "never_called"})
        case ExitPattern():
            yield ExitPattern(code=(pattern.code + 1) % 256)
    kinds: list[Pattern] = [
        *(OkPattern(), HangPattern(), OomPattern(), MismatchPattern(), ExitPattern(code=77)),
        *(ErrorPattern(type="ValueError", match="never said"), CrashPattern(signal="SIGILL")),
    ]
    yield from (kind for kind in kinds if type(kind) is not type(pattern))
    if seen.stage in (Stage.PASS, Stage.WELL_FORMED):
        yield pattern.model_copy(update={"at": NEVER})


def mistaken(seen: Sequence[Observed]) -> Iterator[str]:
    """Expectations that another bug meets as well: they pin too little.

    Only those with an exception, whose message could say more; a signal says nothing.
    """
    told = set()
    for one in seen:
        expect = one.expect.arms["stock"]
        if not any(isinstance(pattern, ErrorPattern) for pattern in expect.stages.values()):
            continue
        for other in seen:
            pair = (whole(one.case), whole(other.case))
            related = set(one.case.issue) & set(other.case.issue) - {"unreported"}
            if pair[0] == pair[1] or related or topic(pair[0]) == topic(pair[1]):
                continue
            arm = other.judgement.arms.get("stock")
            if pair not in told and arm and not differences(expect, arm.stages):
                told.add(pair)
                yield f"{one.case.id}: what it expects is met by {other.case.id}"


def whole(case: Case) -> str:
    return case.id.partition("#")[0]


def topic(id: str) -> str:
    """Siblings share the first word of their names."""
    return id.partition("-")[0]


def not_as_told(one: Observed, folder: Path) -> Iterator[str]:
    """Arms that do not meet the expectation that is made of what was seen of them."""
    for name, arm in one.judgement.arms.items():
        said = as_expectation(arm.stages)
        file = folder / "case.yaml"
        below = f" {said}" if said == "ok" else "\n" + indent(said, "    ")
        file.write_text(f"title: t\nmodule: x\nexpect:\n  stock:{below}\n", encoding="utf-8")
        (expect,) = load_case(file).expect
        verdict = judge(one.case, expect, {"stock": one.traces[name]}).verdict
        if not verdict.passes:
            yield f"{one.case.id}, {name}: told\n{said}\nwhich is {verdict.value}"


def with_checks_turned(case: Case, arm: str, info: TvmInfo) -> Iterator[Case]:
    """The case and its contrasts with what they compare turned around, where it holds.

    Where stock is right, values are looked at in that arm, else in the fixed one.
    """
    for variant in campaign.variants(case):
        expect = variant.expectation(info.tvm, info.tvm_ffi)
        if expect is None or campaign.reason_to_skip(variant, info):
            continue
        stages = expect.arms[arm].stages
        if arm not in variant.arms or (arm == "fixed" and not expect.arms["stock"].stages):
            continue
        if "pass" not in stages:
            for check in variant.after:
                if isinstance(check, TextCheck):
                    turned = {"after": (turn(check),), "build": NO_BUILD, "contrasts": ()}
                    yield variant.model_copy(update=turned)
        compared = variant.build.enabled and not stages
        if compared and any(not isinstance(call.equals, NoCheck) for call in variant.run):
            turned = {"run": tuple(map(turn_call, variant.run)), "contrasts": ()}
            yield variant.model_copy(update=turned)


def turn(check: TextCheck) -> TextCheck:
    kind: Literal["contains", "lacks"] = "lacks" if check.kind == "contains" else "contains"
    return check.model_copy(update={"kind": kind})


def turn_call(call: Call) -> Call:
    """The call with another value expected of it, of the same shape and type where it can be."""
    match call.equals:
        case NoCheck():
            return call
        case dict():
            return call.model_copy(update={"equals": {k: other(v) for k, v in call.equals.items()}})
        case _:
            return call.model_copy(update={"equals": other(call.equals)})


def other(check: Check) -> Check:
    """A check that nothing meets which meets `check`: -x - 1 is x for no whole number.

    An empty value has no other of the same shape.
    """
    if isinstance(check, Expression):
        turned = "np.subtract(np.negative(np.nan_to_num(v)), 1) if np.size(v) else np.zeros(7)"
        return Expression(text=f"(lambda v: {turned})({check.text.strip()})")
    return FullArg(full=77, shape=(7, 7, 7, 7, 7), dtype=check.dtype)
