"""Cases on two releases at once, in the environments that tox has made: `pytest -m releases`."""

from __future__ import annotations

from pathlib import Path

import pytest
from runs import ROOT, run_cli

pytestmark = pytest.mark.releases
TWO = "tvm025,tvm026"
FIXED = "relax/permute-dims-empty"  # wrong on 0.25, right from 0.26 on
CAME = "relax/fuse-ops-size-under-two-names"  # right on 0.25
BOTH = "relax/allocate-workspace-dangling-globalvar"


@pytest.mark.parametrize(
    ("case", "find", "code", "said"),
    [
        (FIXED, "fixed", 0, "fixed between tvm025 and tvm026"),
        (FIXED, "introduced", 1, "no two of these releases"),
        (CAME, "introduced", 0, "introduced between tvm025 and tvm026"),
        (BOTH, "introduced", 1, "no two of these releases"),
    ],
)
def test_bisect(case: str, find: str, code: int, said: str) -> None:
    done = run_cli("bisect", case, "--find", find, "-e", TWO, cwd=ROOT)
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout + done.stderr


def test_matrix(tmp_path: Path) -> None:
    paths = [f"repros/{case}.yaml" for case in (FIXED, CAME, BOTH)]
    command = ["matrix", *paths, "-e", TWO, "--results", str(tmp_path), "-j", "1"]
    done = run_cli(*command, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [FIXED, "reproduces", "guards"] in rows
    assert [CAME, "guards", "reproduces"] in rows
    assert not any(BOTH in row for row in rows)
    old, new = (str(tmp_path / f"{name}.jsonl") for name in TWO.split(","))
    assert "2 turned, as its case says, 1 same" in run_cli("diff", old, new).stdout


def test_an_environment_that_is_not_there() -> None:
    done = run_cli("bisect", BOTH, "-e", "tvm099", cwd=ROOT)
    assert done.returncode == 2
    assert "tvm099" in done.stderr and "Traceback" not in done.stderr
