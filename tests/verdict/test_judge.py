"""The verdict table, and which verdict wins when several things are wrong at once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from handmade import (
    APPLIED,
    LOST,
    PASS,
    TIME,
    arm,
    case,
    cut_short,
    died,
    expects,
    fixed,
    raised,
    wrong,
)

from harness.case import (
    ArmExpect,
    CrashPattern,
    ErrorPattern,
    HangPattern,
    MismatchPattern,
    OkPattern,
    OneOf,
)
from harness.run.trace import ArmTrace, End, FixState, Stage, Stopped
from harness.verdict.judge import (
    Judgement,
    Verdict,
    exit_code,
    infra,
    judge,
    skipped,
    with_contrasts,
)

NO_VM = ErrorPattern(type="InternalError", match="Cannot find")
ILL = ErrorPattern(type="ValueError", match="not defined")
ABRT = CrashPattern(signal="SIGABRT")
OK_OR_ABRT = OneOf(patterns=(OkPattern(), ABRT))

DANGLING = expects(well_formed=ILL, vm=NO_VM)
ALL_OK = ArmExpect()

ill = raised(Stage.WELL_FORMED, "ValueError", "GlobalVar inner is not defined", PASS)
no_vm = raised(Stage.VM, "InternalError", "Cannot find inner")
hang = cut_short(Stage.RUN, "main")
unloaded = ArmTrace(
    "stock",
    (raised(Stage.LOAD, "DiagnosticError", "no such op"),),
    End(Stopped.ITSELF, code=0, final=True),
)

FAILS = arm(ill, no_vm)
SOUND = arm()
ABORTS = arm(end=died("SIGABRT"))
FIXED = fixed()
NOTHING_TO_PATCH = replace(APPLIED, applied=False, used=0, detail="no such global function")
UNUSED = replace(APPLIED, used=0)

TABLE: list[tuple[str, ArmExpect, ArmExpect, list[ArmTrace], list[ArmTrace], str]] = [
    # what, stock expected, fixed expected, stock seen, fixed seen, verdict
    ("fails as expected", DANGLING, ALL_OK, [FAILS], [], "reproduces"),
    ("fails as expected, the fix works", DANGLING, ALL_OK, [FAILS], [FIXED], "reproduces"),
    ("all ok as expected", ALL_OK, ALL_OK, [SOUND], [], "guards"),
    ("all ok with and without the fix", ALL_OK, ALL_OK, [SOUND], [FIXED], "guards"),
    ("all ok, failure expected", DANGLING, ALL_OK, [SOUND], [FIXED], "fixed-upstream"),
    (
        "all ok, nothing to patch",
        DANGLING,
        ALL_OK,
        [SOUND],
        [fixed(fix=NOTHING_TO_PATCH)],
        "fixed-upstream",
    ),
    ("a guard fails", ALL_OK, ALL_OK, [FAILS], [], "regressed"),
    ("a guard hangs", ALL_OK, ALL_OK, [arm(hang, end=TIME)], [], "regressed"),
    ("a guard dies while freeing", ALL_OK, ALL_OK, [ABORTS], [], "regressed"),
    (
        "another message",
        DANGLING,
        ALL_OK,
        [arm(ill, raised(Stage.VM, "InternalError", "no"))],
        [],
        "drifted",
    ),
    (
        "another class",
        DANGLING,
        ALL_OK,
        [arm(ill, raised(Stage.VM, "TypeError", "Cannot find"))],
        [],
        "drifted",
    ),
    ("half of it is right now", DANGLING, ALL_OK, [arm(no_vm)], [FIXED], "drifted"),
    (
        "right where named, fails elsewhere",
        DANGLING,
        ALL_OK,
        [arm(raised(Stage.RUN, "ValueError", "x"))],
        [FIXED],
        "drifted",
    ),
    (
        "fails as named, and dies at the end too",
        DANGLING,
        ALL_OK,
        [arm(ill, no_vm, end=died("SIGSEGV"))],
        [FIXED],
        "drifted",
    ),
    (
        "hangs where an error was expected",
        DANGLING,
        ALL_OK,
        [arm(ill, cut_short(Stage.VM), end=TIME)],
        [FIXED],
        "drifted",
    ),
    (
        "an error where a hang was expected",
        expects(run=HangPattern()),
        ALL_OK,
        [arm(raised(Stage.RUN, "ValueError", "x"))],
        [],
        "drifted",
    ),
    (
        "a stage that should fail is left out",
        expects(run=MismatchPattern()),
        ALL_OK,
        [arm(absent={Stage.RUN: "skipped"})],
        [],
        "drifted",
    ),
    ("the fix does nothing", DANGLING, ALL_OK, [FAILS], [fixed(ill, no_vm)], "fix-ineffective"),
    ("the fix does half", DANGLING, ALL_OK, [FAILS], [fixed(no_vm)], "fix-ineffective"),
    (
        "the fix moves the fault",
        DANGLING,
        ALL_OK,
        [FAILS],
        [fixed(raised(Stage.RUN, "ValueError", "x"))],
        "fix-harmful",
    ),
    (
        "the fix crashes",
        DANGLING,
        ALL_OK,
        [FAILS],
        [fixed(cut_short(Stage.PASS, PASS), end=died("SIGSEGV"), fix=None)],
        "fix-harmful",
    ),
    ("the fix makes it hang", DANGLING, ALL_OK, [FAILS], [fixed(hang, end=TIME)], "fix-harmful"),
    (
        "the fix breaks a guard",
        ALL_OK,
        ALL_OK,
        [SOUND],
        [fixed(wrong(Stage.RUN, "4 of 4"))],
        "fix-harmful",
    ),
    (
        "a partial fix, as the case says",
        DANGLING,
        expects(vm=NO_VM),
        [FAILS],
        [fixed(no_vm)],
        "reproduces",
    ),
    (
        "a partial fix does better than the case says",
        DANGLING,
        expects(vm=NO_VM),
        [FAILS],
        [FIXED],
        "drifted",
    ),
    (
        "nothing to patch, stock fails",
        DANGLING,
        ALL_OK,
        [FAILS],
        [fixed(fix=NOTHING_TO_PATCH)],
        "fix-not-applied",
    ),
    (
        "nothing to patch in a guard",
        ALL_OK,
        ALL_OK,
        [SOUND],
        [fixed(fix=NOTHING_TO_PATCH)],
        "fix-not-applied",
    ),
    (
        "never called, and yet it is right",
        DANGLING,
        ALL_OK,
        [FAILS],
        [fixed(fix=UNUSED)],
        "fix-not-applied",
    ),
    ("never called, in a guard", ALL_OK, ALL_OK, [SOUND], [fixed(fix=UNUSED)], "guards"),
    (
        "nothing was told of the fix",
        DANGLING,
        ALL_OK,
        [FAILS],
        [fixed(fix=None)],
        "fix-not-applied",
    ),
    ("a good fix does not excuse stock", DANGLING, ALL_OK, [arm(no_vm)], [FIXED], "drifted"),
    ("does not load", DANGLING, ALL_OK, [unloaded], [], "unrunnable"),
    ("a guard does not load", ALL_OK, ALL_OK, [unloaded], [], "unrunnable"),
    (
        "should not load",
        expects(load=ErrorPattern(type="DiagnosticError")),
        ALL_OK,
        [unloaded],
        [],
        "reproduces",
    ),
    (
        "should not load for another reason",
        expects(load=ErrorPattern(type="ValueError")),
        ALL_OK,
        [unloaded],
        [],
        "drifted",
    ),
    (
        "the parser should crash and does not",
        expects(load=CrashPattern(signal="SIGSEGV")),
        ALL_OK,
        [SOUND],
        [],
        "fixed-upstream",
    ),
    (
        "the parser crashes under a guard",
        ALL_OK,
        ALL_OK,
        [ArmTrace("stock", (cut_short(Stage.LOAD),), died("SIGSEGV"))],
        [],
        "regressed",
    ),
    ("the server was lost", DANGLING, ALL_OK, [arm(cut_short(Stage.VM), end=LOST)], [], "infra"),
    ("the server was lost in the other arm", DANGLING, ALL_OK, [FAILS], [fixed(end=LOST)], "infra"),
    ("the server was lost in one repeat", ALL_OK, ALL_OK, [SOUND, arm(end=LOST)], [], "infra"),
    ("repeats disagree", DANGLING, ALL_OK, [FAILS, SOUND, FAILS], [FIXED] * 3, "flaky"),
    ("a guard fails now and then", ALL_OK, ALL_OK, [SOUND, ABORTS], [], "flaky"),
    ("all repeats differ alike", DANGLING, ALL_OK, [SOUND, SOUND], [FIXED] * 2, "fixed-upstream"),
    (
        "ok in one, elsewhere in another",
        DANGLING,
        ALL_OK,
        [SOUND, arm(raised(Stage.RUN, "ValueError", "x"))],
        [],
        "flaky",
    ),
    (
        "the fix works now and then",
        DANGLING,
        ALL_OK,
        [FAILS] * 2,
        [FIXED, fixed(ill, no_vm)],
        "flaky",
    ),
    (
        "varies as told, failed once",
        expects(exit=OK_OR_ABRT),
        ALL_OK,
        [SOUND, ABORTS, SOUND],
        [],
        "reproduces",
    ),
    ("varies as told, did not fail", expects(exit=OK_OR_ABRT), ALL_OK, [SOUND] * 3, [], "guards"),
    (
        "varies otherwise than told",
        expects(exit=OK_OR_ABRT),
        ALL_OK,
        [SOUND, arm(end=died("SIGSEGV"))],
        [],
        "drifted",
    ),
    (
        "varies where not told",
        expects(exit=OK_OR_ABRT),
        ALL_OK,
        [SOUND, arm(raised(Stage.VM, "ValueError", "x"))],
        [],
        "flaky",
    ),
    (
        "fails in one of two ways, is ok",
        expects(exit=OneOf(patterns=(ABRT, CrashPattern(signal="SIGSEGV")))),
        ALL_OK,
        [SOUND] * 2,
        [],
        "fixed-upstream",
    ),
    ("only the fixed arm, works", DANGLING, ALL_OK, [], [FIXED], "guards"),
    (
        "only the fixed arm, fails as stock",
        DANGLING,
        ALL_OK,
        [],
        [fixed(ill, no_vm)],
        "fix-ineffective",
    ),
    (
        "only the fixed arm, fails otherwise",
        DANGLING,
        ALL_OK,
        [],
        [fixed(hang, end=TIME)],
        "fix-harmful",
    ),
    (
        "only the fixed arm, never called",
        DANGLING,
        ALL_OK,
        [],
        [fixed(fix=UNUSED)],
        "fix-not-applied",
    ),
    ("nothing was run", DANGLING, ALL_OK, [], [], "infra"),
]


def verdict_on(
    stock: ArmExpect, fix: ArmExpect, seen: list[ArmTrace], seen_fixed: list[ArmTrace]
) -> Judgement:
    some = case(stock, fix, fix="allocate_workspace" if seen_fixed else "")
    return judge(some, some.expect[0], {"stock": seen, "fixed": seen_fixed})


@pytest.mark.parametrize(
    ("stock", "fix", "seen", "seen_fixed", "word"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_the_table(
    stock: ArmExpect,
    fix: ArmExpect,
    seen: list[ArmTrace],
    seen_fixed: list[ArmTrace],
    word: str,
) -> None:
    judgement = verdict_on(stock, fix, seen, seen_fixed)
    assert judgement.verdict.value == word, judgement.reason
    assert judgement.reason


def test_every_verdict_of_the_table_was_given() -> None:
    assert {row[-1] for row in TABLE} == {verdict.value for verdict in Verdict} - {"skipped"}


def test_a_green_verdict_means_that_nothing_differs() -> None:
    for row in TABLE:
        judgement = verdict_on(*row[1:-1])
        if judgement.verdict.passes:
            assert all(arm.as_expected for arm in judgement.arms.values()), row[0]


def test_fixed_upstream_is_never_said_when_anything_failed_in_stock() -> None:
    for row in TABLE:
        judgement = verdict_on(*row[1:-1])
        if judgement.verdict is Verdict.FIXED_UPSTREAM:
            assert not judgement.arms["stock"].failed, row[0]


def test_the_reason_names_arm_stage_and_both_sides() -> None:
    judgement = verdict_on(DANGLING, ALL_OK, [arm(no_vm)], [FIXED])
    assert judgement.reason == (
        "stock: fails in another way than expected; well_formed: "
        "expected {error: ValueError, match: 'not defined'}, saw ok"
    )


def test_the_reason_says_when_an_arm_was_left_out() -> None:
    assert "only the fixed arm was run" in verdict_on(DANGLING, ALL_OK, [], [FIXED]).reason


def test_the_reason_of_a_guard_that_may_fail_claims_nothing() -> None:
    reason = verdict_on(expects(exit=OK_OR_ABRT), ALL_OK, [SOUND] * 3, []).reason
    assert "3 of 3" in reason
    assert "neither" in reason


def test_no_expectation_is_skipped_and_said_so() -> None:
    judgement = judge(case(), None, {"stock": [SOUND]})
    assert judgement.verdict is Verdict.SKIPPED
    assert "relax/some-case" in judgement.reason


def test_the_telling_repeat_is_shown() -> None:
    judgement = verdict_on(ALL_OK, ALL_OK, [SOUND, ABORTS], [])
    assert judgement.arms["stock"].trace is ABORTS
    judgement = verdict_on(expects(exit=OK_OR_ABRT), ALL_OK, [SOUND, ABORTS], [])
    assert judgement.arms["stock"].trace is ABORTS


def said(verdict: Verdict, reason: str = "why") -> Judgement:
    return Judgement(verdict, {}, reason)


@pytest.mark.parametrize(
    ("main", "contrasts", "verdict"),
    [
        ("reproduces", ["guards", "guards"], "reproduces"),
        ("guards", ["reproduces"], "guards"),
        ("reproduces", ["skipped"], "reproduces"),
        ("reproduces", ["guards", "regressed"], "regressed"),
        ("reproduces", ["fixed-upstream"], "fixed-upstream"),
        ("fixed-upstream", ["guards"], "fixed-upstream"),
        ("fixed-upstream", ["drifted"], "drifted"),
        ("fixed-upstream", ["unrunnable"], "unrunnable"),
        ("drifted", ["fixed-upstream"], "drifted"),
        ("drifted", ["infra"], "infra"),
        ("skipped", ["guards"], "skipped"),
        ("skipped", ["regressed"], "regressed"),
    ],
)
def test_the_worst_of_a_case_and_its_contrasts(
    main: str, contrasts: list[str], verdict: str
) -> None:
    siblings = {str(n): said(Verdict(word), f"{word}!") for n, word in enumerate(contrasts)}
    judgement = with_contrasts(said(Verdict(main)), siblings)
    assert judgement.verdict.value == verdict
    assert judgement.contrasts == siblings
    assert ("contrast" in judgement.reason) == (verdict != main)


@pytest.mark.parametrize(
    ("words", "usage", "code"),
    [
        ([], False, 0),
        (["reproduces", "guards", "skipped"], False, 0),
        (["reproduces", "drifted"], False, 1),
        (["reproduces"], True, 2),
        (["drifted"], True, 2),
        (["reproduces", "infra"], True, 3),
        *(
            ([verdict.value], False, 1)
            for verdict in Verdict
            if verdict.value not in ("reproduces", "guards", "skipped", "infra", "unrunnable")
        ),
        (["unrunnable", "drifted"], False, 2),
    ],
)
def test_exit_codes(words: list[str], usage: bool, code: int) -> None:
    assert exit_code([Verdict(word) for word in words], usage) == code


def test_verdicts_given_without_a_run() -> None:
    assert skipped("no onnx").verdict is Verdict.SKIPPED
    assert infra("no TVM").verdict is Verdict.INFRA


def test_a_fix_that_found_nothing_says_what_it_looked_for() -> None:
    state = FixState("allocate_workspace", applied=False, detail="no such global function")
    judgement = verdict_on(DANGLING, ALL_OK, [FAILS], [fixed(fix=state)])
    assert "no such global function" in judgement.reason
