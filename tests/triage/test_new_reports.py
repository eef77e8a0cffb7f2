"""Reports in the shapes people write them, and what `new` makes of them."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.case import Builder, Case, parse_case
from harness.case.writing import written
from harness.run.pool import Pool
from harness.run.sandbox import sandbox
from harness.triage.new.draft import Draft, drafted
from harness.triage.new.observe import as_reported, observe
from harness.triage.new.report import read_report

ROOT = Path(__file__).parents[2]
REPORTS = Path(__file__).parent / "reports"

# What is seen of each on the releases of TVM that cases are judged on.
RUN = {
    "fenced.md": ["run: crash SIGSEGV"],
    "several_scripts.md": ["pass: error InternalError at relax.transform.FuseTIR"],
    "traceback_in_between.md": ["pass: error ValueError at relax.transform.CombineParallelMatmul"],
    "main_guard.py": ["run: mismatch"],
    "block_builder.md": ["pass: crash SIGFPE at relax.transform.FoldConstant"],
    "old_api.md": [
        "well_formed: error ValueError at relax.transform.AllocateWorkspace",
        "vm: error InternalError",
    ],
    "schedule.md": ["pass: error InternalError at schedule"],
    "onnx_model.md": ["run: mismatch"],
}
MISSING = {
    "attachment_missing.md": [(11, "the file `detector.onnx`, which is not attached")],
    "cut_off.md": [
        (10, "`export_model`, which the report does not define"),
        (18, "a script that is no Python: expected ':'"),
    ],
    "relay.md": [(5, "Relay has left TVM: the model has to come through an importer of tvm.relax")],
}


def draft_of(name: str) -> Draft:
    return drafted(read_report((REPORTS / name).read_text(encoding="utf-8"), name), "beside")


def put(draft: Draft, folder: Path) -> Case:
    file = folder / "repros" / "relax" / "new-case.yaml"
    file.parent.mkdir(parents=True)
    if draft.beside:
        (file.parent / "beside.py").write_text(draft.beside, encoding="utf-8")
    text = written(draft.keys, draft.remarks)
    file.write_text(text, encoding="utf-8")
    return parse_case(text, file)


@pytest.mark.parametrize("name", RUN)
def test_shows_the_reported_failure_without_an_edit(name: str, pool: Pool, tmp_path: Path) -> None:
    draft = draft_of(name)
    assert draft.missing == []
    case = put(draft, tmp_path)
    if missing := [one for one in case.requires if find_spec(one) is None]:
        pytest.skip(f"{', '.join(missing)} is not installed")
    seen = observe(case, pool)
    assert not isinstance(seen, str)
    assert len(seen.failed) == len(RUN[name])
    for line, wanted in zip(seen.failed, RUN[name], strict=True):
        assert line.startswith(wanted)
    assert draft.failure is not None
    assert as_reported(draft.failure, seen.stages)
    draft.keys["expect"] = {"stock": seen.expectation}
    again = put(draft, tmp_path / "again")
    assert not again.expect[0].arms["stock"].because


@pytest.mark.parametrize("name", MISSING)
def test_says_what_is_missing(name: str, tmp_path: Path) -> None:
    draft = draft_of(name)
    assert sorted(draft.missing) == MISSING[name]
    put(draft, tmp_path)  # what there is makes a sound case all the same


def cli(*args: str, **keywords: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **keywords.pop("env", {})}  # type: ignore[dict-item]
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", "new", *args],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        **keywords,  # type: ignore[call-overload]
    )


def test_nothing_of_a_report_is_executed(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    env = {"CANARY": str(canary)}
    done = cli(str(REPORTS / "hostile.py"), env=env)
    assert done.returncode == 0, done.stderr
    assert "relax.transform.LegalizeOps" in done.stdout
    assert not canary.exists()
    # It would have been seen: this is what running the script does.
    script = [sys.executable, "-I", "-S", str(REPORTS / "hostile.py")]
    subprocess.run(script, env={**os.environ, **env}, capture_output=True, check=False)
    assert canary.exists()


def test_a_case_from_a_report_and_its_run(tmp_path: Path) -> None:
    out = tmp_path / "repros" / "relax" / "fold-by-zero.yaml"
    done = cli(str(REPORTS / "block_builder.md"), "-o", str(out), "--run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "as reported" in done.stdout
    assert ("isolation: no bwrap" in done.stdout) == (not sandbox())
    text = out.read_text()
    assert "\n# observed on TVM " in text
    assert "pass: {crash: SIGFPE, at: relax.transform.FoldConstant}" in text
    case = parse_case(text, out)
    assert isinstance(case.module, Builder)
    assert case.module.file == out.parent / "fold_by_zero.py"
    before = out.read_bytes()
    assert cli(str(REPORTS / "fenced.md"), "-o", str(out)).returncode == 2
    assert out.read_bytes() == before
    assert cli(str(REPORTS / "fenced.md"), "-o", str(out), "--force").returncode == 0
    assert out.read_bytes() != before


def test_another_script() -> None:
    report = read_report((REPORTS / "several_scripts.md").read_text(), "several_scripts.md")
    assert "class Flat:" in drafted(report, "beside", 2).keys["module"]
    with pytest.raises(LookupError, match="the report has 2"):
        drafted(report, "beside", 3)


def test_a_report_says_otherwise(tmp_path: Path) -> None:
    text = (REPORTS / "main_guard.py").read_text().replace("wrong result", "ValueError")
    done = cli("-", "--run", input=text)
    assert done.returncode == 1, done.stderr
    assert "line 2: the report says otherwise: error ValueError" in done.stderr
    assert "# TODO line 2: the report says otherwise: error ValueError" in done.stdout
    assert "run: mismatch" in done.stdout


@pytest.mark.skipif(not sandbox(), reason="no bwrap that may be used")
def test_a_run_has_no_network_and_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "report.py").write_text(
        "import os, socket, tvm\n"
        "from tvm import relax\n"
        "def tried(action):\n"
        "    try:\n"
        "        action()\n"
        "        return 'done'\n"
        "    except OSError as error:\n"
        "        return type(error).__name__ + str(error.errno)\n"
        f"written = tried(lambda: open({str(tmp_path / 'written')!r}, 'w'))\n"
        "sent = tried(lambda: socket.create_connection(('192.0.2.1', 9), timeout=5))\n"
        "def made():\n"
        "    raise ValueError(f'{written} {sent}')\n"
        "mod = relax.transform.LegalizeOps()(made())\n"
    )
    done = cli(str(tmp_path / "report.py"), "--run")
    assert "load: error ValueError: OSError30 OSError101" in done.stderr, done.stderr
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff\xfea\x00", "not UTF-8 (byte 0xff in line 1)"),
        (b"  \n", "empty: expected a report"),
        (b"a" * ((1 << 20) + 1), "larger than"),
    ],
    ids=["utf16", "empty", "large"],
)
def test_what_is_no_report(content: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "report.md").write_bytes(content)
    done = cli(str(tmp_path / "report.md"))
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert cli(str(tmp_path / "none.md")).returncode == 2
