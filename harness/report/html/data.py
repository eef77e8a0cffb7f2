"""What the page's script reads: an index of all cases, and the details of each on a line."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.case import Case, area, issue_url, kinds
from harness.report.html.sides import Sides, as_data
from harness.report.matrix import Matrix, Release, Row
from harness.report.records import ArmRecord, JudgementRecord, Record, StageRecord
from harness.report.text import block, line
from harness.verdict.word import Verdict

_URL = re.compile(r"https?://[!-~]+")
_WORDS = list(Verdict)


def index(matrix: Matrix) -> str:
    """Releases and rows, as JSON that may stand in a page."""
    changed = [{shift.case: shift.word for shift in release.shifts} for release in matrix.releases]
    return _json(
        {
            "verdicts": [[word.value, word.passes] for word in _WORDS],
            "releases": [release.name for release in matrix.releases],
            "versions": [_versions(release) for release in matrix.releases],
            "rows": [_row(row, changed) for row in matrix.rows],
        }
    )


def details(matrix: Matrix, ir: Mapping[str, Sequence[Sides]]) -> str:
    """A line of JSON for each row, in their order; all of it gzipped, as base64.

    Loading the page takes as long as it is large, and these are read only when a case is opened.
    """
    lines = "\n".join(_json(_details(row, ir.get(row.id, ()))) for row in matrix.rows)
    packed = gzip.compress(lines.encode("utf-8", "backslashreplace"), 6, mtime=0)
    return base64.b64encode(packed).decode("ascii")


def issues(case: Case | None) -> Iterable[tuple[str, str]]:
    """The issues of a case with their addresses; "" for one that leads nowhere."""
    for text in case.issue if case else ():
        address = issue_url(text)
        yield line(text), address if _URL.fullmatch(address) else ""


def _json(data: object) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _versions(release: Release) -> str:
    """What ran the cases, for the page of each."""
    keys = {"tvm": "TVM", "tvm_ffi": "ffi", "llvm": "LLVM", "python": "Python", "platform": "on"}
    told = [f"{word} {release.said(key)}" for key, word in keys.items() if release.said(key)]
    return ", ".join([*told, release.said("started")])


def _row(row: Row, changed: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    case = row.case
    return {
        "id": line(row.id),
        "title": line(case.title) if case else "",
        "area": line(row.id.partition("/")[0]) if case is None else area(case),
        "kinds": kinds(case) if case else (),
        "tags": [line(tag) for tag in case.tags] if case else (),
        "issue": [text for text, _ in issues(case)],
        "cells": [
            _cell(row.records.get(number), changed[number].get(row.id, ""))
            for number in range(len(changed))
        ],
    }


def _cell(record: Record | None, change: str) -> list[Any] | None:
    if record is None:
        return None
    briefs = {line(name): line(arm.brief, 60) for name, arm in record.arms.items()}
    return [_WORDS.index(record.verdict), briefs, change]


def _details(row: Row, ir: Sequence[Sides]) -> dict[str, Any]:
    case = row.case
    return {
        **({} if case is None else _about(case)),
        "records": {number: _record(record) for number, record in row.records.items()},
        "ir": [as_data(sides) for sides in ir],
    }


def _about(case: Case) -> dict[str, Any]:
    return {
        "issues": list(issues(case)),
        "notes": block(case.notes),
        "path": line(str(case.path), 400),
        "tvm": line(case.tvm),
        "fix": line(case.fix),
        "passes": [line(one.name) for one in case.passes],
    }


def _record(record: Record) -> dict[str, Any]:
    return {
        **_judgement(record),
        "seconds": _seconds(record.seconds),
        "contrasts": [
            # Of siblings that came out as they should, the word is enough.
            [line(title), _judgement(one, with_arms=not one.verdict.passes)]
            for title, one in record.contrasts.items()
        ],
    }


def _judgement(judged: JudgementRecord, with_arms: bool = True) -> dict[str, Any]:
    return {
        "verdict": _WORDS.index(judged.verdict),
        "reason": line(judged.reason, 600),
        "arms": {line(name): _arm(arm) for name, arm in judged.arms.items()} if with_arms else {},
    }


def _arm(arm: ArmRecord) -> dict[str, Any]:
    differences = {one.stage: block(one.expected, 2_000) for one in arm.differences}
    return _without_nothing(
        {
            "stages": [_stage(stage, differences.get(stage.stage, "")) for stage in arm.stages],
            "signature": block(arm.signature or "", 2_000),
            "runs": arm.runs if arm.runs > 1 else 0,
            "globals": line(", ".join(arm.globals or ()), 600),
            "fix": _fix(arm),
            "stdout": block(arm.stdout, 8_000),
            "stderr": block(arm.stderr, 8_000),
        }
    )


def _fix(arm: ArmRecord) -> str:
    if arm.fix is None:
        return ""
    state = f"reached {arm.fix.used} times" if arm.fix.applied else "found nothing to patch"
    return line(f"{arm.fix.name}: {state} {arm.fix.detail}")


def _stage(stage: StageRecord, expected: str) -> dict[str, Any]:
    return _without_nothing(
        {
            "stage": line(stage.stage),
            "outcome": line(stage.outcome) if stage.outcome != "ok" else "",
            "what": line(stage.brief) if stage.failed else "",
            "at": line(stage.at or ""),
            "message": block(stage.message or "", 8_000),
            "frames": [line(frame) for frame in stage.frames],
            "expected": expected,
            "ms": round(_seconds(stage.seconds) * 1000),
        }
    )


def _seconds(given: float) -> float:
    return round(given, 3) if math.isfinite(given) else 0.0


def _without_nothing(data: Mapping[str, Any]) -> dict[str, Any]:
    """The page is made of thousands of these: what is empty is left out."""
    return {key: value for key, value in data.items() if value}
