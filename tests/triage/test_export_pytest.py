"""Exported tests: they fail on stock TVM, and pass with the fix."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fixes
from harness import campaign
from harness.case import Case, discover
from harness.run.pool import Pool
from harness.triage.export import as_issue, as_pytest

ROOT = Path(__file__).parents[2]


def outcomes(folder: Path, *options: str) -> dict[str, str]:
    """``passed`` or ``failed`` for each test file, in a process without the harness."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-rA", "--tb=no", *options]
    command += ["-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    found = re.findall(r"^(PASSED|FAILED) (\S+)\.py::", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    return {name.rpartition("/")[2]: word.lower() for word, name in found}


@pytest.fixture(scope="module")
def cases(pool: Pool) -> dict[str, Case]:
    """Cases with a fix, by the name of their test file."""
    every = [campaign.read_case(path) for path in discover([ROOT / "repros"])]
    chosen = [case for case in every if case.fix and not campaign.reason_to_skip(case, pool.info)]
    assert {case.fix for case in chosen} == set(fixes.names())
    return {f"test_{number}": case for number, case in enumerate(chosen)}


def test_of_each_case_with_a_fix(cases: dict[str, Case], pool: Pool, tmp_path: Path) -> None:
    texts = {name: as_pytest(case, pool) for name, case in cases.items()}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    guards = {
        name
        for name, case in cases.items()
        if (expect := case.expectation(pool.info.tvm, pool.info.tvm_ffi))
        and not expect.arms["stock"].stages
    }
    stock = outcomes(tmp_path)
    assert {name for name, word in stock.items() if word == "passed"} == guards
    fixed = outcomes(tmp_path, "-p", "fixes.pytest", *(f"--with-fix={n}" for n in fixes.names()))
    assert set(fixed) == set(stock) == set(texts)
    wrong = [cases[name].id for name, word in fixed.items() if word != "passed"]
    assert not wrong
    assert sum("class Expected" in text for text in texts.values()) > len(texts) // 2


def test_conventions_of_the_suite(pool: Pool) -> None:
    file = ROOT / "repros" / "relax" / "allocate-workspace-dangling-globalvar.yaml"
    text = as_pytest(campaign.read_case(file), pool)
    assert text.startswith("# Licensed to the Apache Software Foundation (ASF) under one\n")
    assert text.endswith('if __name__ == "__main__":\n    tvm.testing.main()\n')
    for line in (
        "def test_allocate_workspace_dangling_globalvar():",
        "class Before:",
        "cls = Before",
        "mod = tvm.relax.transform.AllocateWorkspace()(mod)",
        "relax.analysis.well_formed(mod)",
        "class Expected:",
        "tvm.ir.assert_structural_equal(mod, Expected)",
    ):
        assert f"    {line}\n" in text or f"{line}\n" in text
    assert "Module" not in text.partition("def test_")[2].replace("IRModule", "")


def test_a_report_tells_what_is_seen(pool: Pool) -> None:
    file = ROOT / "repros" / "relax" / "allocate-workspace-dangling-globalvar.yaml"
    text = as_issue(campaign.read_case(file), pool)
    headings = re.findall(r"^### (.*)$", text, re.MULTILINE)
    assert headings == [
        *("Expected behavior", "Actual behavior", "Environment", "Steps to reproduce", "Triage")
    ]
    for words in (
        f"- TVM {pool.info.tvm}, apache-tvm-ffi {pool.info.tvm_ffi}, LLVM",
        "- without the pass every stage is right: right",
        'GlobalVar I.GlobalVar("inner") is not defined.',
        "Cannot find ffi::Function inner",
        "First noticed in `relax.transform.AllocateWorkspace`",
        "With a corrected pass in its place (`allocate_workspace`), every stage passes.",
        "    mod = tvm.relax.transform.AllocateWorkspace()(mod)",
    ):
        assert words in text
    ladder = re.search(r"^load +ok\ninput +ok\n(?:.*\n)*vm +error InternalError.*$", text, re.M)
    assert ladder is not None
