"""``tvm-repro report``, from a run of real TVM to the page."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness import cli

ROOT = Path(__file__).parent.parent
SEED = "relax/allocate-workspace-dangling-globalvar"


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the seed."""
    file = tmp_path_factory.mktemp("results") / "seed.jsonl"
    path = ROOT / "repros" / f"{SEED}.yaml"
    assert cli.main(["run", str(path), "--jsonl", str(file)]) == 0
    return file


def detail(page: str, name: str) -> Any:
    """What the page's script reads; of details that of the only case."""
    found = re.search(rf'id="{name}">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    packed = name == "details"
    return json.loads(gzip.decompress(base64.b64decode(found[1])) if packed else found[1])


def report(*args: str | Path) -> int:
    return cli.main(["report", *map(str, args)])


def test_the_page_of_a_real_run(seed: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(ROOT)
    assert report(seed, "-o", tmp_path / "r.html", "--markdown", tmp_path / "r.md") == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    (row,) = detail(page, "index")["rows"]
    assert row["id"] == SEED
    assert row["area"] == "relax" and "byoc" in row["tags"]
    assert row["cells"][0][1] == {"stock": "well_formed: ValueError", "fixed": "ok"}
    about = detail(page, "details")
    assert about["path"] == f"repros/{SEED}.yaml"
    stock = about["records"]["0"]["arms"]["stock"]["stages"]
    assert any("WellFormed" in frame for frame in stock[3]["frames"])
    assert about["ir"] == []
    assert "| reproduces | 1 |" in (tmp_path / "r.md").read_text()


def test_the_ir_around_a_pass(seed: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(ROOT)
    page = tmp_path / "r.html"
    assert report(seed, "-o", page, "--ir", "-k", "dangling") == 0
    stock, fixed, between, *built = detail(page.read_text(encoding="utf-8"), "details")["ir"]
    assert stock["title"].endswith("AllocateWorkspace, stock")
    assert "is not defined" in stock["message"]
    marked = [stock["right"][number] for number in stock["marks"]]
    assert len(marked) == 1 and marked[0].endswith("= inner(x)")
    assert fixed["title"].endswith("AllocateWorkspace, fixed") and fixed["marks"] == []
    assert between["names"] == ["stock", "fixed"]
    assert any(tag == "r" for tag, *_ in between["ops"])
    # Behind the case's own passes come those of the build.
    titles = [one["title"] for one in built]
    assert "CallTIRRewrite, stock" in titles
    assert all(one["left"] != one["right"] and one["ops"] for one in built)
    # Nothing needs a person here, so without -k there is no IR to print.
    assert report(seed, "-o", page, "--ir") == 0
    assert detail(page.read_text(encoding="utf-8"), "details")["ir"] == []


def test_a_folder_and_a_baseline(seed: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)  # where there are no case files
    head, line = seed.read_text().splitlines()
    (tmp_path / "new").mkdir()
    for name in ("a", "b"):
        other = json.dumps({**json.loads(line), "case": f"x/{name}"})
        (tmp_path / "new" / f"{name}.jsonl").write_text(f"{head}\n{other}\n")
    assert report("new", "--baseline", seed, "-o", "r.html", "--markdown", "r.md") == 0
    index = detail(Path("r.html").read_text(encoding="utf-8"), "index")
    assert [(row["id"], row["title"]) for row in index["rows"]] == [("x/a", ""), ("x/b", "")]
    assert f"| missing | {SEED} |" in Path("r.md").read_text()


def test_a_run_that_was_cut_off(seed: Path, tmp_path: Path, capsys: Any) -> None:
    cut = tmp_path / "cut.jsonl"
    cut.write_text(seed.read_text() + '{"case": "relax/hal')
    assert report(cut, "-o", tmp_path / "r.html") == 0
    assert "ends in the middle" in capsys.readouterr().err
    assert "cut off" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["no-such.jsonl", "-o", "r.html"], "no-such.jsonl: No such file"),
        (["pyproject.toml", "-o", "r.html"], "pyproject.toml:1: expected a line of JSON"),
        (["{seed}", "-o", "/no/such/folder/r.html"], "/no/such/folder/r.html: cannot be written"),
        (["{seed}", "-o", "r.html", "--baseline", "README.md"], "README.md:1: expected"),
        (["{seed}", "-o", "r.html", "--ir", "-k", "a and"], "-k 'a and'"),
    ],
)
def test_what_cannot_be_done_is_2_and_said(
    args: list[str], says: str, seed: Path, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    for name in ("pyproject.toml", "README.md"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    assert report(*(one.format(seed=seed) for one in args)) == 2
    assert says in capsys.readouterr().err
    assert not Path("r.html").exists()


def test_it_needs_no_tvm(seed: Path, tmp_path: Path) -> None:
    (tmp_path / "tvm").mkdir()
    (tmp_path / "tvm" / "__init__.py").write_text("raise ImportError('no TVM here')")
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "report", str(seed), "-o", str(tmp_path / "r.html")],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1 cases on 1 releases: ")
