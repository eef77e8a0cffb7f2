"""Nights on real TVM, with what changed in between planted; the tracker is a script."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import yaml
from runs import ROOT, run_cli

HERE = Path(__file__).parent
SEED = "relax/allocate-workspace-dangling-globalvar"
# Stays as it is, whatever is planted.
STEADY = {
    "title": "an ill-formed input",
    "module": {"python": "own.py:ill_formed"},
    "build": False,
    "expect": {"input": {"error": "ValueError"}},
}
GUARD = {
    "title": "dead code",
    "module": """\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.add(x, x)
        return x
""",
    "passes": ["relax.transform.DeadCodeElimination"],
    "build": False,
    "expect": "ok",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three cases, and the night before with its report."""
    top = tmp_path_factory.mktemp("nightly")
    folder = top / "repros" / "relax"
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "repros" / f"{SEED}.yaml", folder)
    for name, case in (("guard", GUARD), ("steady", STEADY)):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(case, sort_keys=False))
    shutil.copy(ROOT / "harness" / "canaries" / "builders.py", folder / "own.py")
    (top / "site").mkdir()
    shutil.copy(HERE / "planted.py", top / "site" / "sitecustomize.py")
    (top / "none").mkdir()
    assert night(top, "before") == 0
    first = "the first night: there is nothing to compare with\n"
    assert report(top, "none", "before") == (0, first)
    return top


def night(corpus: Path, name: str, planted: str = "", shard: str = "1/1") -> int:
    """Run a night, or a part of it; its exit code."""
    path = f"{corpus / 'site'}:{ROOT}"
    env = {"PLANTED": planted, "PLANTED_ROOT": str(ROOT), "PYTHONPATH": path}
    command = ["nightly", "run", "--shard", shard, "--results", name, "-j", "2"]
    return run_cli(*command, cwd=corpus, env=env).returncode


def report(corpus: Path, last: str, results: str, shards: int = 1) -> tuple[int, str]:
    command = ["nightly", "report", "--last", last, "--results", results, "--out", f"{results}-out"]
    command += ["--shards", str(shards), "--summary", "summary.md"]
    done = run_cli(*command, cwd=corpus)
    return done.returncode, done.stdout + done.stderr


def changed(corpus: Path, last: str, results: str) -> dict[str, str]:
    """Kind of change by case, from the issues' files."""
    code, said = report(corpus, last, results)
    issues = sorted((corpus / f"{results}-out" / "issues").glob("*.md"))
    heads = [path.read_text().splitlines()[1] for path in issues]
    assert code == (1 if heads else 0), said
    return {case: kind for kind, case in (head[2:].split(": ") for head in heads)}


def test_planted_nights_give_their_changes_and_nothing_else(corpus: Path) -> None:
    assert changed(corpus, "before-out", "before") == {}
    assert night(corpus, "two", "fix regression") == 0
    two = {SEED: "fixed upstream", "relax/guard": "newly failing"}
    assert changed(corpus, "before-out", "two") == two
    assert changed(corpus, "two-out", "two") == {}
    assert night(corpus, "drift", "drift") == 0
    assert changed(corpus, "before-out", "drift") == {SEED: "drifted"}
    # Neither night is the other's: what was fixed is there again, in other words.
    back = {SEED: "drifted"}
    assert changed(corpus, "two-out", "drift") == back


def test_a_night_whose_canaries_fail_calls_nothing_fixed(corpus: Path) -> None:
    assert night(corpus, "blind", "blind") == 3
    assert not (corpus / "blind").exists()
    code, said = report(corpus, "before-out", "blind")
    assert (code, "1 of 1 shards gave no results" in said) == (3, True)
    assert "shards gave no results" in (corpus / "summary.md").read_text()
    assert not (corpus / "blind-out").exists()  # so the next night asks for an earlier one


def test_a_shard_that_died(corpus: Path) -> None:
    assert night(corpus, "half", shard="2/2") == 0
    (file,) = (corpus / "half").glob("*.jsonl")
    ran = [json.loads(line)["case"] for line in file.read_text().splitlines()[1:]]
    code, said = report(corpus, "before-out", "half", shards=2)
    assert code == 3
    assert "1 of 2 shards gave no results" in said
    assert f"missing: {3 - len(ran)}" in said
    # What was missed is held against what it was when last seen.
    code, said = report(corpus, "half-out", "before")
    assert (code, "3 same" in said) == (0, True), said


def test_a_run_that_was_cut_off(corpus: Path) -> None:
    (file,) = (corpus / "before").glob("*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    (corpus / "cut").mkdir()
    (corpus / "cut" / "a.jsonl").write_bytes(b"".join(lines[:2]) + lines[2][:100])
    code, said = report(corpus, "before-out", "cut")
    assert code == 3
    assert "cut off" in said and "missing: 2" in said


GH = """\
#!/usr/bin/env python3
import json, os, sys
from pathlib import Path
state = Path(os.environ["TRACKER"])
issues = json.loads(state.read_text()) if state.exists() else []
command, options = sys.argv[1:3], sys.argv[3:]
def given(name):
    return options[options.index(name) + 1]
if command == ["issue", "list"]:
    print(json.dumps([{"number": n, "body": one["body"]} for n, one in enumerate(issues, 1)]))
elif command == ["issue", "create"]:
    body = Path(given("--body-file")).read_text()
    issues.append({"title": given("--title"), "body": body, "more": 0})
    print(f"https://tracker/{len(issues)}")
elif command == ["issue", "comment"]:
    issues[int(options[0]) - 1]["more"] += 1
elif command != ["label", "create"]:
    sys.exit(f"unknown: {command}")
state.write_text(json.dumps(issues))
"""


def test_one_issue_for_each_change_opened_once(corpus: Path) -> None:
    assert night(corpus, "fix", "fix regression") == 0
    assert len(changed(corpus, "before-out", "fix")) == 2
    (corpus / "bin").mkdir()
    (corpus / "bin" / "gh").write_text(GH)
    (corpus / "bin" / "gh").chmod(0o755)
    env = {"PATH": f"{corpus / 'bin'}:{os.environ['PATH']}", "TRACKER": str(corpus / "tracker")}
    said = [
        run_cli("nightly", "issues", "fix-out/issues", cwd=corpus, env=env).stdout for _ in range(2)
    ]
    assert said[0].count("opened: ") == 2
    assert (said[1].count("added to: "), said[1].count("opened: ")) == (2, 0)
    issues = json.loads((corpus / "tracker").read_text())
    assert [issue["more"] for issue in issues] == [1, 1]
    assert issues[0]["title"] == "newly failing: relax/guard"
    assert "RuntimeError" in issues[0]["body"] and "tvm-repro compare" in issues[0]["body"]


def test_no_tracker_at_hand(corpus: Path) -> None:
    (corpus / "one").mkdir()
    (corpus / "one" / "000.md").write_text("<!-- tvm-repro: x -->\n# t\n")
    done = run_cli("nightly", "issues", "one", cwd=corpus, env={"PATH": str(corpus)})
    assert done.returncode == 3
    assert "gh: No such file" in done.stderr and "Traceback" not in done.stderr
