"""``tvm-repro nightly``: what a workflow calls each night, step by step."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from harness.case import Case
from harness.report.changed import changed
from harness.report.changes import changes, exit_code
from harness.report.html.page import page
from harness.report.markdown import safe, step_summary
from harness.report.matrix import matrix
from harness.report.results import Results, read_results, results_in
from harness.triage.issues import TrackerError, gh, issues_of
from harness.verdict.word import INFRA

MAIN = "git+https://github.com/apache/tvm@main"
ARTIFACT = "nightly-results"
RESULTS = "results.jsonl"
_LLVM = "--config-settings=cmake.define.USE_LLVM=llvm-config-18"
_NIGHTS = 30  # how far back to look for one that has results


def wheel(folder: Path) -> int:
    """Put the wheel of the TVM to test into `folder`; returns pip's exit code.

    ``TVM_WHEEL`` names a file, ``TVM_REQUIREMENT`` anything that pip takes; with neither, main is
    built.
    """
    given = os.environ.get("TVM_WHEEL") or os.environ.get("TVM_REQUIREMENT") or MAIN
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(folder), given]
    return subprocess.run([*command, *([_LLVM] if given == MAIN else [])], check=False).returncode


def last(folder: Path, workflow: str) -> str:
    """Fetch the results of the last night that has some; returns what was found, for people.

    Goes through ``gh``. The folder is empty afterwards when there has been no such night.

    Raises
    ------
    TrackerError
    """
    folder.mkdir(parents=True, exist_ok=True)
    listed = ("--workflow", workflow, "--status", "completed", "--limit", str(_NIGHTS))
    runs = json.loads(gh("run", "list", *listed, "--json", "databaseId,createdAt"))
    for run in runs:
        number = str(run["databaseId"])
        try:
            gh("run", "download", number, "-n", ARTIFACT, "-D", str(folder))
        except TrackerError:  # it has none
            shutil.rmtree(folder)
            folder.mkdir()
        else:
            return f"results of {run['createdAt']}, run {number}"
    return f"no results in the last {len(runs)} runs: this is the first night"


def report(
    old_folder: Path,
    new_folder: Path,
    shards: int,
    out_folder: Path,
    summary: Path | None,
    cases: Mapping[str, Case],
    out: Console,
) -> int:
    """Put the shards of a night together, hold them against the last, and write it all down.

    Parameters
    ----------
    old_folder : Path
        The last night; empty on the first one.
    new_folder : Path
        The results files of this night.
    shards : int
        How many there should be.
    out_folder : Path
        Gets ``results.jsonl``, which is what the next night asks for, ``report.html`` and a
        Markdown file in ``issues/`` for each change that needs a person.
    summary : Path, optional
        Markdown is appended to it.
    cases : mapping of str to Case
        By id, for titles.
    out : Console

    Returns
    -------
    int
        0 nothing to do, 1 somebody has to look, 3 the night says nothing, or not all.

    Raises
    ------
    ResultsError
        When files are no results, or nothing can be written.
    """
    files = sorted(new_folder.glob("*.jsonl"))
    old = read_results(results_in(old_folder)) if any(old_folder.glob("*.jsonl")) else None
    new = read_results(files) if files else None
    told = _short_of(new, len(files), shards)
    for one in told:
        out.print(one, style="wrong", soft_wrap=True)
    heading = "".join(f"> **{safe(one)}**\n\n" for one in told)
    if new is None or new.void:
        _append(summary, heading)
        return INFRA  # last night's results stay those to compare with
    shutil.rmtree(out_folder / "issues", ignore_errors=True)  # those of an earlier night
    (out_folder / "issues").mkdir(parents=True)
    seen = matrix([new], [old] if old else [], cases)
    _append(summary, heading + step_summary(seen))
    (out_folder / "report.html").write_text(page(seen, {}), encoding="utf-8")
    _write(out_folder / RESULTS, new, old, cases)
    if old is None:
        out.print("the first night: there is nothing to compare with")
        return INFRA if told else 0
    found = changes(old, new)
    out.print(changed(old, new, found), soft_wrap=True)
    for number, issue in enumerate(issues_of(old, new, found)):
        (out_folder / "issues" / f"{number:03}.md").write_text(issue.text, encoding="utf-8")
    return INFRA if told else exit_code(found)


def _short_of(new: Results | None, files: int, shards: int) -> list[str]:
    """What is wrong with the night as a whole."""
    told = []
    if files < shards:
        told.append(f"{shards - files} of {shards} shards gave no results")
    if new is not None and new.void:
        told.append(new.void)
    elif new is not None and new.cut_off:
        told.append("a run was cut off: what it did not come to is missing below")
    return told


def _append(summary: Path | None, text: str) -> None:
    if summary is not None:
        with summary.open("a", encoding="utf-8") as file:
            file.write(text)


def _write(path: Path, new: Results, old: Results | None, cases: Mapping[str, Case]) -> None:
    """What the next night is held against.

    A case that has no result tonight, though its file is there, keeps its last one: else it would
    be missed one night and forgotten the next.
    """
    kept = {id: one for id, one in old.cases.items() if id in cases} if old else {}
    lines = {**kept, **new.cases}
    head = {key: value for key, value in new.header.items() if key != "shard"}
    head["planned"] = len(lines)
    text = "".join(json.dumps(one) + "\n" for one in (head, *lines.values()))
    path.write_text(text, encoding="ascii")
