"""From steps and the end of a process to the outcome of each stage."""

from __future__ import annotations

from dataclasses import replace

import pytest
from handmade import CLEAN, LOST, PASS, TIME, arm, cut_short, died, done, raised, wrong

from harness.run.trace import ArmTrace, End, Stage, Step, Stopped
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

SECOND = "relax.transform.FuseOps"


def at(trace: ArmTrace, stage: Stage) -> StageResult:
    return next(result for result in stages(trace) if result.stage is stage)


def test_always_eight_in_order() -> None:
    for trace in (arm(), arm(end=LOST), ArmTrace("stock", (), died("SIGSEGV"))):
        assert [result.stage for result in stages(trace)] == list(Stage)


def test_a_sound_arm_is_ok_everywhere() -> None:
    assert {result.outcome for result in stages(arm())} == {Ok()}


def test_what_is_behind_an_exception_is_not_reached_but_the_child_still_ends() -> None:
    trace = arm(raised(Stage.BUILD, "InternalError", "no"))
    assert at(trace, Stage.BUILD).outcome == Error("InternalError", "no")
    assert at(trace, Stage.VM).outcome == NotReached()
    assert at(trace, Stage.RUN).outcome == NotReached()
    assert at(trace, Stage.EXIT).outcome == Ok()


def test_an_ill_formed_module_goes_on() -> None:
    trace = arm(raised(Stage.WELL_FORMED, "ValueError", "dangling", PASS))
    assert at(trace, Stage.WELL_FORMED) == StageResult(
        Stage.WELL_FORMED, PASS, Error("ValueError", "dangling")
    )
    assert at(trace, Stage.BUILD).outcome == Ok()


def interleaved(*steps: Step, end: End = CLEAN) -> ArmTrace:
    return ArmTrace("stock", (done(Stage.LOAD), done(Stage.INPUT), *steps), end)


def test_the_first_check_that_fails_counts() -> None:
    trace = interleaved(
        done(Stage.PASS, PASS),
        raised(Stage.WELL_FORMED, "ValueError", "first", PASS),
        done(Stage.PASS, SECOND),
        raised(Stage.WELL_FORMED, "ValueError", "second", SECOND),
    )
    assert at(trace, Stage.WELL_FORMED).at == PASS
    assert at(trace, Stage.PASS).outcome == Ok()
    assert at(trace, Stage.PASS).seconds == 1.0


def test_checks_behind_a_pass_that_raised_were_never_made() -> None:
    trace = interleaved(
        done(Stage.PASS, PASS),
        done(Stage.WELL_FORMED, PASS),
        raised(Stage.PASS, "InternalError", "no", SECOND),
        done(Stage.EXIT),
    )
    assert at(trace, Stage.PASS).at == SECOND
    assert at(trace, Stage.WELL_FORMED).outcome == NotReached()


def test_an_ill_formed_result_stays_one_when_a_later_pass_raises() -> None:
    trace = interleaved(
        done(Stage.PASS, PASS),
        raised(Stage.WELL_FORMED, "ValueError", "dangling", PASS),
        raised(Stage.PASS, "InternalError", "no", SECOND),
    )
    assert at(trace, Stage.WELL_FORMED).outcome == Error("ValueError", "dangling")


def test_ir_text_that_differs_is_a_mismatch_behind_all_checks() -> None:
    trace = interleaved(
        done(Stage.PASS, PASS),
        done(Stage.WELL_FORMED, PASS),
        wrong(Stage.PASS, "the IR lacks mode"),
        done(Stage.EXIT),
    )
    assert at(trace, Stage.PASS).outcome == Mismatch("the IR lacks mode")
    assert at(trace, Stage.WELL_FORMED).outcome == Ok()


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (died("SIGSEGV"), Crash("SIGSEGV")),
        (died("SIGFPE"), Crash("SIGFPE")),
        (End(Stopped.ITSELF, code=0), Exit(0)),
        (End(Stopped.ITSELF, code=3), Exit(3)),
        (TIME, Hang()),
        (LOST, NotReached()),
    ],
)
def test_how_a_process_died_is_the_outcome_of_the_step_it_died_in(
    end: End, outcome: Outcome
) -> None:
    trace = arm(cut_short(Stage.RUN, "main"), end=end)
    assert at(trace, Stage.RUN).outcome == outcome
    assert at(trace, Stage.VM).outcome == Ok()
    assert at(trace, Stage.EXIT).outcome == NotReached()


def test_a_kill_that_was_not_ours_is_memory() -> None:
    assert isinstance(
        at(arm(cut_short(Stage.BUILD), end=died("SIGKILL")), Stage.BUILD).outcome, Oom
    )


SMASHED = 'Fatal Python error: Segmentation fault\n\n  File "a.py", line 1 in f\n'
ABORTED = "corrupted double-linked list\nFatal Python error: Aborted\n"


@pytest.mark.parametrize(
    ("stderr", "end", "outcome"),
    [
        (SMASHED, died("SIGSEGV"), Crash("SIGSEGV")),
        # The handler of the first signal stumbles over the smashed heap.
        (SMASHED + ABORTED, died("SIGABRT"), Crash("SIGSEGV")),
        (SMASHED, died("SIGBUS"), Crash("SIGSEGV")),
        (SMASHED, TIME, Crash("SIGSEGV")),
        (ABORTED, died("SIGABRT"), Crash("SIGABRT", "corrupted double-linked list")),
        ("Fatal Python error: Floating-point exception\n", TIME, Crash("SIGFPE")),
        ("a Fatal Python error: Aborted\n", TIME, Hang()),
        ("", TIME, Hang()),
        (SMASHED, died("SIGTERM"), Crash("SIGTERM")),
    ],
)
def test_the_signal_that_was_met_first_counts(stderr: str, end: End, outcome: Outcome) -> None:
    run = arm(cut_short(Stage.BUILD), end=end, stderr=stderr)
    assert at(run, Stage.BUILD).outcome == outcome


def test_an_abort_is_memory_only_when_stderr_says_so() -> None:
    step = cut_short(Stage.BUILD)
    plain = arm(step, end=died("SIGABRT"), stderr="free(): invalid pointer\n")
    assert at(plain, Stage.BUILD).outcome == Crash("SIGABRT", "free(): invalid pointer")
    terminate = "terminate called after throwing an instance of 'std::bad_alloc'\n"
    memory = arm(step, end=died("SIGABRT"), stderr=terminate)
    assert isinstance(at(memory, Stage.BUILD).outcome, Oom)


@pytest.mark.parametrize(
    "end",
    [
        died("SIGABRT"),
        End(Stopped.ITSELF, code=0),
        End(Stopped.ITSELF, code=1, final=True),
        replace(died("SIGSEGV"), final=True),
        TIME,
    ],
)
def test_a_death_behind_the_last_step_is_a_fault_at_exit(end: End) -> None:
    assert at(arm(end=end), Stage.EXIT).failed
    assert not any(result.failed for result in stages(arm(end=end))[:-1])


def test_a_death_before_any_step_is_a_fault_of_load() -> None:
    trace = ArmTrace("stock", (), died("SIGSEGV"))
    assert at(trace, Stage.LOAD).outcome == Crash("SIGSEGV")
    assert at(trace, Stage.EXIT).outcome == NotReached()


def test_what_the_child_left_out_is_told_apart() -> None:
    absent = {Stage.VM: "not applicable", Stage.RUN: "skipped"}
    trace = arm(absent=absent)
    assert at(trace, Stage.VM).outcome == NotApplicable()
    assert at(trace, Stage.RUN).outcome == Skipped()


def test_a_stage_that_was_passed_by_had_nothing_to_do() -> None:
    steps = (done(Stage.LOAD), done(Stage.INPUT), done(Stage.BUILD), done(Stage.EXIT))
    trace = ArmTrace("stock", steps, CLEAN, {Stage.WELL_FORMED: "not applicable"})
    assert at(trace, Stage.PASS).outcome == NotApplicable()


def test_a_case_that_does_not_load_reaches_nothing() -> None:
    trace = ArmTrace("stock", (raised(Stage.LOAD, "DiagnosticError", "no"),), CLEAN)
    assert at(trace, Stage.LOAD).failed
    assert {result.outcome for result in stages(trace)[1:]} == {NotReached()}
