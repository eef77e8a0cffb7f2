"""Everything that is known of a case: on one screen, and without TVM when it is not to be run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import main

ROOT = Path(__file__).parents[2]
SEED = ROOT / "repros" / "relax" / "allocate-workspace-dangling-globalvar.yaml"


def test_the_seed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["explain", str(SEED)]) == 0
    told = capsys.readouterr().out
    rows = told.splitlines()
    assert 24 <= len(rows) <= 40 and max(map(len, rows)) <= 80
    said = " ".join(told.split())
    for fact in (
        "https://github.com/apache/tvm/issues/20479",
        "labels relax, ill_formed",
        "expected well_formed: ValueError on 0.25.0.post1",
        "fix allocate_workspace: ",
        "verdict reproduces",
        "fixed all ok; calls of the fix: ",
        "signature well_formed relax.transform.AllocateWorkspace | ValueError",
        "contrast guards without the pass every stage is right",
        "introduced at AllocateWorkspace: leaves the module ill-formed: GlobalVar",
        "noticed at vm: error InternalError",
        "next tvm-repro locate repros/relax/allocate-workspace-dangling-globalvar.yaml",
    ):
        assert fact in said


def test_what_the_file_says_needs_no_tvm() -> None:
    script = (
        "import sys; from harness.cli import main; "
        f"code = main(['explain', '--no-run', {str(SEED)!r}]); "
        "assert 'tvm' not in sys.modules; sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "expected" in done.stdout and "verdict" not in done.stdout
