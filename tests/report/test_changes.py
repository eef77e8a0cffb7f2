"""What changed between two runs, told from their results files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from handmade import PASS, arm, case, expects, raised

from harness.case import ErrorPattern
from harness.report.changes import Kind, changes
from harness.report.jsonl import case_line, header
from harness.report.results import ResultsError, read_results, results_in
from harness.run.trace import Stage, TvmInfo
from harness.verdict.judge import infra, judge, skipped

INFO = TvmInfo("0.27.0.post1", "0.1.14.post1", "22", "3.11.7", "Linux")
CASE = case(expects(well_formed=ErrorPattern(type="ValueError", match="not defined")))


def judged(*steps: Any) -> Any:
    judgement = judge(CASE, CASE.expect[0], {"stock": [arm(*steps)]})
    return case_line(CASE, judgement, 1.0)


def ill(message: str, error: str = "ValueError") -> Any:
    return raised(Stage.WELL_FORMED, error, message, PASS)


REPRODUCES = judged(ill("GlobalVar inner is not defined"))
OTHER_NAME = judged(ill("GlobalVar outer7 is not defined"))
OTHERWISE = judged(ill("the type is not defined"))
DRIFTED = judged(ill("something else altogether"))
DRIFTED_AGAIN = judged(ill("yet another thing"))
LATER_TOO = judged(ill("GlobalVar inner is not defined"), raised(Stage.VM, "InternalError", "m"))
FIXED = judged()
UNRUNNABLE = judged(raised(Stage.LOAD, "DiagnosticError", "expected Tensor"))
SKIPPED = case_line(CASE, skipped("requires: onnx"), 0.0)
VOID = case_line(CASE, infra("the fork server went away"), 0.0)
OLD_WORDS = judged(ill("the StructInfo does not match"))
NEW_WORDS = judged(ill("the Type does not match"))
REGRESSED = {**REPRODUCES, "verdict": "regressed"}


def write(path: Path, *lines: Any, info: TvmInfo = INFO, planned: int = 0) -> Path:
    from datetime import datetime, timezone

    head = header(info, datetime(2026, 11, 1, tzinfo=timezone.utc), planned)
    path.write_text("".join(json.dumps(line) + "\n" for line in (head, *lines)))
    return path


@pytest.mark.parametrize(
    ("old", "new", "kind", "urgent"),
    [
        (REPRODUCES, REPRODUCES, Kind.SAME, False),
        (REPRODUCES, OTHER_NAME, Kind.SAME, False),
        (REPRODUCES, OTHERWISE, Kind.MOVED, False),
        (REPRODUCES, {**FIXED, "verdict": "guards"}, Kind.TURNED, False),
        ({**FIXED, "verdict": "guards"}, REPRODUCES, Kind.TURNED, False),
        (REPRODUCES, FIXED, Kind.FIXED, True),
        (REPRODUCES, DRIFTED, Kind.DRIFTED, True),
        (REPRODUCES, LATER_TOO, Kind.DRIFTED, True),
        (REPRODUCES, UNRUNNABLE, Kind.UNRUNNABLE, True),
        (REPRODUCES, SKIPPED, Kind.SKIPPED, True),
        (REPRODUCES, VOID, Kind.VOID, True),
        (REPRODUCES, None, Kind.MISSING, True),
        (REPRODUCES, REGRESSED, Kind.NEWLY_FAILING, True),
        ({**OLD_WORDS, "verdict": "reproduces"}, NEW_WORDS, Kind.RENAMED, False),
        (DRIFTED, DRIFTED, Kind.SAME, False),
        (DRIFTED, DRIFTED_AGAIN, Kind.DRIFTED, True),
        (DRIFTED, REPRODUCES, Kind.RECOVERED, False),
        (DRIFTED, FIXED, Kind.FIXED, True),
        (FIXED, FIXED, Kind.SAME, False),
        (SKIPPED, SKIPPED, Kind.SAME, False),
        (SKIPPED, REPRODUCES, Kind.NEW, False),
        (SKIPPED, DRIFTED, Kind.DRIFTED, True),
        (None, REPRODUCES, Kind.NEW, False),
        (None, DRIFTED, Kind.NEW, True),
        (None, VOID, Kind.NEW, True),
    ],
)
def test_kinds(old: Any, new: Any, kind: Kind, urgent: bool, tmp_path: Path) -> None:
    other = {"case": "relax/other", "verdict": "guards", "arms": {}}
    old_file = write(tmp_path / "old.jsonl", *filter(None, [old]), other)
    new_file = write(tmp_path / "new.jsonl", *filter(None, [new]), other)
    found = changes(read_results([old_file]), read_results([new_file]))
    (change,) = (one for one in found if one.case != "relax/other")
    assert (change.kind, change.needs_person) == (kind, urgent)


def test_a_change_in_a_contrast_counts(tmp_path: Path) -> None:
    old = {**REPRODUCES, "contrasts": {"a sibling": REPRODUCES}}
    new = {**REPRODUCES, "contrasts": {"a sibling": OTHERWISE}}
    files = [write(tmp_path / f"{n}.jsonl", line) for n, line in enumerate((old, new))]
    (change,) = changes(*(read_results([file]) for file in files))
    assert change.kind is Kind.MOVED


def test_odd_values_are_no_failure(tmp_path: Path) -> None:
    odd = {"case": "a", "verdict": "drifted", "arms": {"stock": {"stages": 3, "signature": []}}}
    odder = {**odd, "arms": [], "contrasts": {"x": None}}
    files = [write(tmp_path / f"{n}.jsonl", line) for n, line in enumerate((odd, odder))]
    (change,) = changes(*(read_results([file]) for file in files))
    assert change.kind is Kind.SAME


def test_shards_are_put_together(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path / f"{number}.jsonl", {"case": f"c{number}", "verdict": "guards"})
    whole = read_results(results_in(tmp_path))
    assert list(whole.cases) == ["c0", "c1", "c2"]
    assert whole.pair == "TVM 0.27.0.post1 with ffi 0.1.14.post1"


def test_a_run_that_was_killed_while_it_wrote(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", REPRODUCES)
    file.write_bytes(file.read_bytes() + b'{"case": "relax/half')
    results = read_results([file])
    assert results.cut_off
    assert list(results.cases) == [REPRODUCES["case"]]
    assert read_results([write(tmp_path / "b.jsonl", REPRODUCES, planned=2)]).cut_off
    assert not read_results([write(tmp_path / "c.jsonl", REPRODUCES, planned=1)]).cut_off


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "a.jsonl: empty"),
        (b'{"case": "x", "verdict": "guards"}\n', "a.jsonl:1: expected the head"),
        (b'{"schema": 2}\n', "a.jsonl:1: expected results of schema 1, came 2"),
        (b'{"schema": 1}\nnonsense\n{}\n', "a.jsonl:2: expected a line of JSON"),
        (b'{"schema": 1}\n[1]\n', "a.jsonl:2: expected a line of JSON"),
        (b'{"schema": 1}\n{"case": 3}\n', "a.jsonl:2: expected the line of a case"),
        (b'{"schema": 1}\n{"case": "x", "verdict": "fine"}\n', "a.jsonl:2: expected the line"),
        (b"\xff\xfe\x00\n", "a.jsonl:1: expected a line of JSON"),
        (b"[" * 100_000 + b"\n", "a.jsonl:1: expected a line of JSON"),
    ],
)
def test_what_is_no_results_file(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(ResultsError) as caught:
        read_results([path])
    assert said in str(caught.value)


def test_missing_files_and_mixed_releases(tmp_path: Path) -> None:
    one = write(tmp_path / "a.jsonl", REPRODUCES)
    other = write(tmp_path / "b.jsonl", info=TvmInfo("0.26.0", "0.1.13.post2", "", "", ""))
    with pytest.raises(ResultsError, match=r"b\.jsonl: expected results of TVM 0\.27\.0\.post1"):
        read_results([one, other])
    with pytest.raises(ResultsError, match="No such file"):
        read_results([tmp_path / "none.jsonl"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ResultsError, match="no results in this folder"):
        results_in(tmp_path / "empty")


def test_a_run_that_says_nothing(tmp_path: Path) -> None:
    assert read_results([write(tmp_path / "a.jsonl")]).void == "it holds no results"
    assert "the fork server went away" in read_results([write(tmp_path / "b.jsonl", VOID)]).void
    assert not read_results([write(tmp_path / "c.jsonl", VOID, {**REPRODUCES, "case": "x"})]).void
