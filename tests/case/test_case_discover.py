"""Which files a path stands for, and which releases a specifier means."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from casefiles import GOOD, write

from harness.case import CaseFileError, discover, satisfies


def test_files_and_folders(tmp_path: Path) -> None:
    names = ["b/x.yaml", "b/a.yaml", "a.yaml", "c/d/e.yaml"]
    for name in [*names, ".hidden/x.yaml", "b/.x.yaml", "b/readme.md", "b/make.py"]:
        write(tmp_path / name, GOOD)
    (tmp_path / "c" / "loop").symlink_to(tmp_path)
    found = discover([tmp_path / "c", tmp_path, tmp_path / "b" / "x.yaml"])
    assert found == sorted(tmp_path / name for name in names)


def test_nothing_there(tmp_path: Path) -> None:
    assert discover([tmp_path]) == []
    assert discover([]) == []


def test_all_that_is_wrong_at_once(tmp_path: Path) -> None:
    write(tmp_path / "relax" / "good.yaml", GOOD)
    write(tmp_path / "relax" / "old.yml", GOOD)
    write(tmp_path / "notes.txt", "")
    with pytest.raises(CaseFileError) as caught:
        discover([tmp_path / "relx", tmp_path / "relax", tmp_path / "notes.txt", "a\0b"])
    text = str(caught.value)
    assert len(caught.value.problems) == 4
    assert "relx: no such file or folder\n  hint: did you mean `relax`?" in text
    assert "old.yml: not a case file" in text and "rename it to old.yaml" in text
    assert "notes.txt: not a case file" in text


@pytest.mark.parametrize(
    ("specifier", "version", "holds"),
    [
        ("", "0.27.0", True),
        (">=0.28", "0.28.dev12", True),
        ("<0.28", "0.28.dev12", False),
        ("==0.27.0", "0.27.0.post1", True),
        ("<=0.27.0", "0.27.0.post1", True),
        (">0.27.0", "0.27.0.post1", False),
        ("==0.27.0.post1", "0.27.0.post1", True),
        ("==0.27.0.post1", "0.27.0", False),
        (">=0.28.dev20", "0.28.dev12", False),
        (">=0.28.dev10", "0.28.dev12", True),
        ("<0.1.14.post1", "0.1.14", True),
        (">=0.25,<0.27", "0.26.0", True),
        (">=0.25,<0.27", "0.27.dev3", False),
        ("!=0.27.0", "0.27.0.post1", False),
        ("==0.27.*", "0.27.0.post1", True),
        ("~=0.26.0", "0.27.0", False),
        ("==0.28.dev12+gabc", "0.28.dev12+gabc", True),
        (">=0.27", "0.28.0+cu12", True),
    ],
)
def test_satisfies(specifier: str, version: str, holds: bool) -> None:
    assert satisfies(specifier, version) is holds


def test_no_tvm() -> None:
    code = "import sys, harness.case; sys.exit(any(m.split('.')[0] == 'tvm' for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
