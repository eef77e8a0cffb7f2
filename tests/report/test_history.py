"""Cases over many nights."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.report.console import as_text
from harness.report.history import _LETTERS, history, nights_in
from harness.report.results import ResultsError
from harness.verdict.word import Verdict


def write(path: Path, day: int, **verdicts: str) -> None:
    head = {"schema": 1, "tvm": "0.28", "tvm_ffi": "0.2", "started": f"2026-11-{day:02}"}
    lines = [{"case": f"relax/{case}", "verdict": word} for case, word in verdicts.items()]
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in (head, *lines)))


def test_nights_stand_in_the_order_of_their_dates(tmp_path: Path) -> None:
    write(tmp_path / "b.jsonl", 1, kept="reproduces", broken="guards")
    write(tmp_path / "a.jsonl", 2, kept="reproduces", broken="regressed")
    write(tmp_path / "third" / "shard-1.jsonl", 3, kept="reproduces")
    write(tmp_path / "third" / "shard-2.jsonl", 3, late="fixed-upstream")
    nights = nights_in(tmp_path)
    text = as_text(history(nights, every=False))
    assert "  gR.  relax/broken" in text
    assert "  ..F  relax/late" in text
    assert "relax/kept" not in text
    assert "1 cases were the same every night" in text
    assert "F fixed-upstream, R regressed, . missing" in text
    assert "  rrr  relax/kept" in as_text(history(nights, every=True))


def test_every_verdict_has_a_letter_of_its_own() -> None:
    assert set(_LETTERS) == set(Verdict)
    assert len({*_LETTERS.values(), "."}) == len(_LETTERS) + 1


def test_folders_without_results(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="no results in this folder"):
        nights_in(tmp_path)
    with pytest.raises(ResultsError, match="No such file"):
        nights_in(tmp_path / "none")
