"""What a case expects against what was seen."""

from __future__ import annotations

import pytest
from handmade import PASS, arm, cut_short, died, expects, raised

from harness.case import (
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
from harness.run.trace import Stage
from harness.verdict.expectation import differences, matches
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
    stages,
)

ERROR = Error("ValueError", "GlobalVar inner is not defined", ("f", "tvm::relax::Check::Visit"))
OK = OkPattern()
SEGV = CrashPattern(signal="SIGSEGV")
SEGV_IN_LOWER = CrashPattern(signal="SIGSEGV", in_="Lower")


def error(type: str = "ValueError", **keys: str) -> ErrorPattern:
    return ErrorPattern(type=type, **keys)


@pytest.mark.parametrize(
    ("pattern", "outcome", "met"),
    [
        (OK, Ok(), True),
        (OK, NotApplicable(), True),
        (OK, Skipped(), True),
        (OK, NotReached(), False),
        (OK, Mismatch("x"), False),
        (error(), ERROR, True),
        (error("TypeError"), ERROR, False),
        (error("Error"), ERROR, False),
        (error(match="inner.*defined"), ERROR, True),
        (error(match="outer"), ERROR, False),
        (error(in_="Check::Visit"), ERROR, True),
        (SEGV_IN_LOWER, Crash("SIGSEGV", "", ("f", "Lower::g")), True),
        (SEGV_IN_LOWER, Crash("SIGSEGV", "", ("f", "Fuse")), False),
        (SEGV_IN_LOWER, Crash("SIGSEGV"), False),
        (error(in_="^Visit"), ERROR, False),
        (error("AssertionError"), Error("AssertionError"), True),
        (error(), Ok(), False),
        (error(), Crash("SIGSEGV"), False),
        (SEGV, Crash("SIGSEGV"), True),
        (SEGV, Crash("SIGABRT"), False),
        (ExitPattern(code=0), Exit(0), True),
        (ExitPattern(code=0), Exit(1), False),
        (ExitPattern(code=0), Ok(), False),
        (HangPattern(), Hang(), True),
        (HangPattern(), Crash("SIGKILL"), False),
        (MismatchPattern(), Mismatch("x"), True),
        (MismatchPattern(), Error("AssertionError"), False),
        (OomPattern(), Oom("x", Crash("SIGKILL")), True),
        (OomPattern(), Oom("x", Error("MemoryError")), True),
        (OomPattern(), Crash("SIGABRT"), False),
        (CrashPattern(signal="SIGABRT"), Oom("x", Crash("SIGABRT")), True),
        (
            error("InternalError", match="bad_alloc"),
            Oom("x", Error("InternalError", "std::bad_alloc")),
            True,
        ),
        (OneOf(patterns=(OK, SEGV)), Ok(), True),
        (OneOf(patterns=(OK, SEGV)), Crash("SIGSEGV"), True),
        (OneOf(patterns=(OK, SEGV)), Crash("SIGABRT"), False),
    ],
)
def test_one_outcome(pattern: Pattern, outcome: Outcome, met: bool) -> None:
    assert matches(pattern, StageResult(Stage.RUN, "", outcome)) is met


@pytest.mark.parametrize(
    ("at", "met"),
    [
        ("relax.transform.AllocateWorkspace", True),
        ("transform.AllocateWorkspace", True),
        ("AllocateWorkspace", True),
        ("Workspace", False),
        ("FuseOps", False),
    ],
)
def test_at_is_the_name_or_its_last_parts(at: str, met: bool) -> None:
    assert matches(error(at=at), StageResult(Stage.PASS, PASS, ERROR)) is met


def test_without_at_any_place_will_do() -> None:
    assert matches(error(), StageResult(Stage.PASS, PASS, ERROR))


def test_at_knows_renamed_passes() -> None:
    seen = StageResult(Stage.PASS, "tirx.transform.UnrollLoop", ERROR)
    assert matches(error(at="tir.transform.UnrollLoop"), seen)


def test_a_stage_that_is_not_named_is_expected_ok() -> None:
    seen = stages(arm(raised(Stage.VM, "InternalError", "no")))
    (vm, run) = differences(expects(), seen)
    assert (vm.stage, vm.expected, vm.seen) == (Stage.VM, "ok", "error InternalError: no")
    assert (run.stage, run.seen) == (Stage.RUN, "not reached")


def test_behind_a_failure_as_named_nothing_need_be_reached() -> None:
    seen = stages(arm(raised(Stage.VM, "InternalError", "no")))
    assert differences(expects(vm=error("InternalError")), seen) == ()


def test_behind_a_failure_otherwise_than_named_everything_differs() -> None:
    seen = stages(arm(raised(Stage.VM, "InternalError", "no")))
    found = differences(expects(vm=error("ValueError")), seen)
    assert [one.stage for one in found] == [Stage.VM, Stage.RUN]


def test_in_front_of_the_named_failure_all_must_be_reached() -> None:
    seen = stages(arm(raised(Stage.BUILD, "InternalError", "no")))
    found = differences(expects(vm=error("InternalError")), seen)
    assert [one.stage for one in found] == [Stage.BUILD, Stage.VM, Stage.RUN]


def test_ok_that_is_written_down_must_be_seen() -> None:
    seen = stages(arm(raised(Stage.BUILD, "InternalError", "no")))
    found = differences(expects(build=error("InternalError"), run=OK), seen)
    assert [one.stage for one in found] == [Stage.RUN]


def test_ok_where_a_failure_was_named_is_a_difference() -> None:
    (found,) = differences(expects(vm=error(match="x", at="y")), stages(arm()))
    assert found.expected == "{error: ValueError, match: 'x', at: y}"
    assert found.seen == "ok"


def test_one_of_with_ok_need_not_be_reached() -> None:
    """A smashed heap: it dies in the call, or while freeing, or not at all."""
    varies = OneOf(patterns=(OK, CrashPattern(signal="SIGABRT")))
    expect = expects(run=varies, exit=varies)
    for trace in (
        arm(),
        arm(cut_short(Stage.RUN, "main"), end=died("SIGABRT")),
        arm(end=died("SIGABRT")),
    ):
        assert differences(expect, stages(trace)) == ()
    assert differences(expect, stages(arm(end=died("SIGSEGV"))))
