"""Whether a bug is there, in the exit codes of git bisect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from handmade import LOST, PASS, arm, case, cut_short, died, expects, raised
from runs import make_case, run_cli

from harness.case import (
    CrashPattern,
    ErrorPattern,
    OkPattern,
    OneOf,
    VersionedExpect,
)
from harness.run.pool import Pool
from harness.run.trace import NAMES, ArmTrace, Stage
from harness.triage.sighting import State, chance, look_for, sighting

ILL = expects(well_formed=ErrorPattern(type="ValueError", match="not defined"))
SEED = case(ILL)
ill = raised(Stage.WELL_FORMED, "ValueError", "inner is not defined", PASS)
other = raised(Stage.WELL_FORMED, "ValueError", "something else", PASS)
BROKEN, RIGHT, OTHERWISE = arm(ill), arm(), arm(other)
CRASH = expects(run=CrashPattern(signal="SIGSEGV"))
CRASHED = arm(cut_short(Stage.RUN, "main"), end=died("SIGSEGV"))


def by_release(*stocks: Any) -> Any:
    entries = tuple(
        VersionedExpect(tvm=f"=={number}", arms={"stock": stock, "fixed": expects()})
        for number, stock in enumerate(stocks)
    )
    return SEED.model_copy(update={"expect": entries})


SOMETIMES = case(expects(run=OneOf(patterns=(OkPattern(), CrashPattern(signal="SIGSEGV")))))
GUARD = case(expects())


@pytest.mark.parametrize(
    ("case", "runs", "state", "seen"),
    [
        (SEED, [BROKEN], State.PRESENT, 1),
        (SEED, [BROKEN, BROKEN], State.PRESENT, 2),
        (SEED, [BROKEN, RIGHT], State.PRESENT, 1),
        (SEED, [RIGHT], State.ABSENT, 0),
        (SEED, [OTHERWISE], State.UNKNOWN, 0),
        (SEED, [BROKEN, OTHERWISE], State.UNKNOWN, 0),
        (SEED, [RIGHT, OTHERWISE], State.UNKNOWN, 0),
        (SEED, [CRASHED], State.UNKNOWN, 0),
        (SEED, [arm(ill, end=LOST)], State.UNKNOWN, 0),
        (SEED, [arm(raised(Stage.LOAD, "DiagnosticError", "no such"))], State.UNKNOWN, 0),
        (SEED, [arm(raised(Stage.LOAD, "LookupError", "no pass", NAMES))], State.UNKNOWN, 0),
        (SEED, [arm(absent={Stage.WELL_FORMED: "not applicable"})], State.UNKNOWN, 0),
        (by_release(expects(), ILL), [BROKEN], State.PRESENT, 1),
        (by_release(ILL, CRASH), [CRASHED], State.PRESENT, 1),
        (by_release(ILL, CRASH), [BROKEN], State.PRESENT, 1),
        (by_release(ILL, expects()), [RIGHT], State.ABSENT, 0),
        (SOMETIMES, [RIGHT, CRASHED, RIGHT], State.PRESENT, 1),
        (SOMETIMES, [RIGHT, RIGHT], State.ABSENT, 0),
        (GUARD, [RIGHT], State.ABSENT, 0),
        (GUARD, [OTHERWISE], State.PRESENT, 1),
        (GUARD, [arm(raised(Stage.LOAD, "DiagnosticError", "no"))], State.UNKNOWN, 0),
    ],
)
def test_states(case: Any, runs: list[ArmTrace], state: State, seen: int) -> None:
    found = sighting(case, runs)
    assert (found.state, found.seen) == (state, seen), found


def test_a_bug_that_sometimes_shows_may_have_been_missed() -> None:
    assert chance(0.3, 20) == pytest.approx(0.7**20)


MODULE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.add(x, x)
        return y
"""
WRONG = [{"call": "main", "args": [{"arange": 4}], "equals": "x * 3"}]
RIGHT_RUN = [{"call": "main", "args": [{"arange": 4}], "equals": "x + x"}]


@pytest.mark.parametrize(
    ("run", "find", "code"),
    [(WRONG, "introduced", 1), (WRONG, "fixed", 0), (RIGHT_RUN, "introduced", 0)],
)
def test_exit_codes(run: Any, find: str, code: int, tmp_path: Path) -> None:
    made = make_case(tmp_path, module=MODULE, run=run, expect={"stock": {"run": "mismatch"}})
    done = run_cli("check", str(made.path), "--find", find, "--repeat", "2", "--rate", "0.5")
    assert done.returncode == code, done.stderr
    assert ("present in 2 of 2 runs" if run is WRONG else "absent") in done.stdout


def test_what_cannot_be_judged_or_read(tmp_path: Path) -> None:
    made = make_case(tmp_path, module=MODULE, passes=["relax.transform.NoSuchPass"])
    assert run_cli("check", str(made.path)).returncode == 125
    assert run_cli("check", str(tmp_path / "none.yaml")).returncode == 128
    made.path.write_text("title: [")
    assert run_cli("check", str(made.path)).returncode == 128


def test_an_expectation_of_another_release_counts(tmp_path: Path, pool: Pool) -> None:
    expect = [{"tvm": "<0.1", "stock": {"run": "mismatch"}}]
    made = make_case(tmp_path, module=MODULE, run=WRONG, expect=expect)
    assert look_for(made, 1, pool).state is State.PRESENT


def test_a_case_that_is_not_for_this_tvm(tmp_path: Path, pool: Pool) -> None:
    made = make_case(tmp_path, module=MODULE, tvm="<0.1")
    found = look_for(made, 1, pool)
    assert (found.state, "rules out" in found.why) == (State.UNKNOWN, True)
