"""The plugin that runs somebody else's tests on fixed passes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest_plugins = "pytester"

SUITE = """
from tvm.relax.transform import AllocateWorkspace
from fixes.allocate_workspace.probe import is_well_formed, probe

def test_one():
    assert is_well_formed(AllocateWorkspace()(probe()))

def test_two():
    assert is_well_formed(AllocateWorkspace()(probe()))
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    root = str(Path(__file__).resolve().parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]))
    pytester.makepyfile(test_suite=SUITE)
    return pytester


def test_without_the_option_nothing_is_fixed(suite: pytest.Pytester) -> None:
    result = suite.runpytest_subprocess("-p", "fixes.pytest")
    result.assert_outcomes(failed=2)
    result.stdout.no_fnmatch_line("*stood in*")


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_with_a_fix(suite: pytest.Pytester, workers: tuple[str, ...]) -> None:
    result = suite.runpytest_subprocess(
        "-p", "fixes.pytest", "--with-fix", "allocate_workspace", *workers
    )
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "with fix: allocate_workspace (apache/tvm#20479)",
            "fix allocate_workspace: stood in for tvm.relax.transform.AllocateWorkspace 2 times",
        ]
    )


def test_fix_that_never_came_into_play(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_suite="def test_nothing(): pass")
    result = suite.runpytest_subprocess("-p", "fixes.pytest", "--with-fix", "allocate_workspace")
    result.stdout.fnmatch_lines(["fix allocate_workspace: stood in for * never"])


def test_unknown_fix_is_a_usage_error(suite: pytest.Pytester) -> None:
    result = suite.runpytest_subprocess("-p", "fixes.pytest", "--with-fix", "alocate_workspace")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no fix is called *did you mean 'allocate_workspace'?"])
