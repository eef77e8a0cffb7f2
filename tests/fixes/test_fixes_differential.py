"""The differential run, small: a seed repeats, faults are found, differences are told."""

from __future__ import annotations

import random

import pytest
from aw_right import RIGHT_IN_STOCK
from aw_wrong import WRONG_IN_STOCK

from fixes import differential
from fixes.allocate_workspace import module_pass
from fixes.allocate_workspace.generate import generated
from fixes.differential import Tally, compare, examine

NAME = "allocate_workspace"


def test_a_seed_gives_the_same_modules() -> None:
    texts = [generated(random.Random(f"7/{n}")) for n in range(20)]
    assert texts == [generated(random.Random(f"7/{n}")) for n in range(20)]
    assert len(set(texts)) == 20


def test_no_differences_and_the_faults_of_stock_are_found() -> None:
    tally = compare(NAME, modules=300, seed=1, run_every=75)
    assert tally.differences == []
    # 0.25 takes a symbolic function held as a value for ill-formed.
    assert tally.tried + sum(tally.not_generated.values()) == 300
    assert tally.tried == tally.equal + tally.corrected
    assert tally.equal > 100
    assert tally.ran >= 3
    found = "\n".join(tally.faults)
    # Every fault that is known of TVM's pass.
    for fault in (
        "GlobalVar … is not defined",
        "workspace_var_main_",
        "Number of arguments",
        "DataflowVar workspace_main is not defined",
        "DataflowVar workspace_main is used outside",
        "ValueError: Check failed",  # 2 GiB
    ):
        assert fault in found


def test_a_fix_that_differs_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_pass, "allocated", lambda mod: mod)
    tally = Tally()
    examine(RIGHT_IN_STOCK["one call"], NAME, tally, 0, run=False)
    examine(RIGHT_IN_STOCK["no bytes at all"], NAME, tally, 1, run=False)
    assert tally.differences == [(0, "both are well-formed and they differ")]


def test_a_fix_that_raises_or_leaves_it_ill_formed_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = WRONG_IN_STOCK["codegen calls codegen"]
    tally = Tally()
    monkeypatch.setattr(module_pass, "allocated", lambda mod: 1 // 0)
    examine(text, NAME, tally, 0, run=False)
    stock = differential.stock_of(differential.get(NAME).targets[0])
    monkeypatch.setattr(module_pass, "allocated", lambda mod: stock()(mod))
    examine(text, NAME, tally, 1, run=False)
    (first, second) = tally.differences
    assert "the fix raises RuntimeError: integer division" in first[1]
    assert "ill-formed" in second[1]
    assert tally.corrected == 0


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert differential.main(["--modules", "3", "--seed", "5", "--run-every", "0"]) == 0
    assert "differences                    0" in capsys.readouterr().out
    assert differential.main(["--seed", "5", "--show", "2"]) == 0
    assert capsys.readouterr().out.startswith("@I.ir_module")
