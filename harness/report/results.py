"""Results files read back: one run, or its shards put together again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.report.jsonl import SCHEMA
from harness.report.records import Record, record_of
from harness.report.text import line
from harness.verdict.word import Verdict

LONGEST_LINE = 64 << 20  # bytes; a case with twenty contrasts has some hundred thousand
_PAIR = ("tvm", "tvm_ffi")


class ResultsError(Exception):
    """A results file that cannot be used; the text says where and why."""


@dataclass(frozen=True)
class Results:
    """What a run came to.

    Attributes
    ----------
    name : str
        Where it was read from, for messages.
    header : mapping
        What ran the cases: see `harness.report.jsonl`.
    cases : mapping
        Id of a case to its line.
    cut_off : bool
        Whether there are fewer lines than were planned, or the last is not whole: the run was
        killed.
    """

    name: str
    header: Mapping[str, Any]
    cases: Mapping[str, Mapping[str, Any]]
    cut_off: bool = False

    @cached_property
    def records(self) -> Mapping[str, Record]:
        """The lines of cases, checked."""
        return {id: record_of(one) for id, one in self.cases.items()}

    @property
    def pair(self) -> str:
        """``TVM 0.27.0.post1 with ffi 0.1.14.post1``."""
        tvm, ffi = (line(str(self.header.get(key, "?")), 40) for key in _PAIR)
        return f"TVM {tvm} with ffi {ffi}"

    @property
    def void(self) -> str:
        """Why the run says nothing at all; "" when it does."""
        if not self.cases:
            return "it holds no results"
        if all(verdict_of(one) is Verdict.INFRA for one in self.cases.values()):
            first = next(iter(self.cases.values()))
            return f"the run itself failed: {line(str(first.get('reason', '')))}"
        return ""


def verdict_of(case: Mapping[str, Any]) -> Verdict:
    """The verdict of a line that has been read."""
    return Verdict(case["verdict"])


def results_in(path: Path) -> list[Path]:
    """The files of one run: `path` itself, or every ``.jsonl`` in the folder, its shards.

    Raises
    ------
    ResultsError
        When there are none.
    """
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.jsonl"))
    if not found:
        raise ResultsError(f"{path}: no results in this folder (*.jsonl)")
    return found


def read_results(paths: Sequence[Path]) -> Results:
    """The results that stand in `paths`: the shards of one run.

    A case that has several lines counts by its last: a run that was taken up again writes it anew.

    Raises
    ------
    ResultsError
        A file is missing or no results file, or they are of different TVMs.
    """
    parts = [_read(path) for path in paths]
    first = parts[0]
    for other in parts[1:]:
        if other.pair != first.pair:
            raise ResultsError(
                f"{other.name}: expected results of {first.pair}, as {first.name} has, "
                f"came {other.pair}"
            )
    cases = {id: case for part in parts for id, case in part.cases.items()}
    names = ", ".join(part.name for part in parts)
    return Results(names, first.header, cases, any(part.cut_off for part in parts))


def _read(path: Path) -> Results:
    header: Mapping[str, Any] | None = None
    cases: dict[str, Mapping[str, Any]] = {}
    cut_off = False
    for number, record, whole in _records(path):
        if record is None:
            if whole:
                raise ResultsError(
                    f"{path}:{number}: expected a line of JSON; is it a results file?"
                )
            cut_off = True
        elif header is None:
            header = _header(path, number, record)
        else:
            cases[_id(path, number, record)] = record
    if header is None:
        raise ResultsError(f"{path}: empty: the run ended before it began")
    planned = header.get("planned")
    if isinstance(planned, int):
        cut_off = cut_off or len(cases) < planned
    return Results(str(path), header, cases, cut_off)


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any] | None, bool]]:
    """Number, content (None: no JSON object) and wholeness of each line."""
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), start=1):
                try:
                    record = json.loads(raw)
                except (ValueError, RecursionError):
                    record = None
                yield number, record if isinstance(record, dict) else None, raw.endswith(b"\n")
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}") from None


def _header(path: Path, number: int, record: dict[str, Any]) -> Mapping[str, Any]:
    if "schema" not in record:
        raise ResultsError(
            f"{path}:{number}: expected the head of a results file, with `schema`; "
            "make one with `tvm-repro run --jsonl FILE`"
        )
    if record["schema"] != SCHEMA:
        came = line(str(record["schema"]), 40)
        raise ResultsError(f"{path}:{number}: expected results of schema {SCHEMA}, came {came}")
    return record


def _id(path: Path, number: int, record: dict[str, Any]) -> str:
    id, word = record.get("case"), record.get("verdict")
    if not isinstance(id, str) or word not in {one.value for one in Verdict}:
        raise ResultsError(
            f"{path}:{number}: expected the line of a case, with `case` and a known `verdict`, "
            f"came {line(json.dumps(record), 80)}"
        )
    return id
