"""Cases by release: results files, case files and what changed, brought together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from packaging.version import InvalidVersion, Version

from harness.case import Case
from harness.report import changes
from harness.report.records import Record
from harness.report.results import Results
from harness.report.text import line
from harness.verdict.word import Verdict

FAILS_SINCE, OK_SINCE = "fails since", "ok since"


@dataclass(frozen=True, slots=True)
class Shift:
    """How a case changed; `was` and `came` are a verdict and what stock did."""

    case: str
    word: str
    was: str
    came: str


@dataclass(frozen=True, slots=True)
class Release:
    """One column: what a TVM and its ffi made of the cases; `name` is safe to show."""

    name: str
    header: Mapping[str, Any]
    records: Mapping[str, Record]
    cut_off: bool
    shifts: tuple[Shift, ...] = ()

    def said(self, key: str) -> str:
        """What the head of the results says, in one line; times to the minute."""
        said = line(str(self.header.get(key, "")), 80)
        return said[:16].replace("T", " ") if key == "started" else said


@dataclass(frozen=True, slots=True)
class Row:
    """One case: its records by the number of the release; `case` is None without its file."""

    id: str
    case: Case | None
    records: Mapping[int, Record] = field(default_factory=dict)

    @property
    def worst(self) -> Verdict:
        """The verdict that most needs a person, of all releases."""
        verdicts = [record.verdict for record in self.records.values()]
        return max(verdicts, key=lambda verdict: verdict.severity, default=Verdict.SKIPPED)


@dataclass(frozen=True, slots=True)
class Matrix:
    """All of it. Rows: what changed first, then what needs a person, then by id."""

    releases: tuple[Release, ...]
    rows: tuple[Row, ...]
    has_baseline: bool  # else each release was held against the one before it

    def count(self, verdict: Verdict, release: int) -> int:
        """How many cases came to `verdict` on a release."""
        found = self.releases[release].records.values()
        return sum(record.verdict is verdict for record in found)


def matrix(
    results: Sequence[Results], baseline: Sequence[Results], cases: Mapping[str, Case]
) -> Matrix:
    """Bring results together.

    Parameters
    ----------
    results : sequence of Results
        Those of one TVM and ffi make one column, whatever number of files they are in; what a
        later one says of a case counts, unless it skipped it.
    baseline : sequence of Results
        What a column is held against: those of the same TVM, else the last. Without any, each
        release is held against the one before it.
    cases : mapping of str to Case
        By id, for titles and labels. A case without its file is shown by its id.
    """
    releases = _releases(_columns(results), _columns(baseline))
    rows = [
        Row(
            id,
            cases.get(id),
            {
                number: release.records[id]
                for number, release in enumerate(releases)
                if id in release.records
            },
        )
        for id in dict.fromkeys(id for release in releases for id in release.records)
    ]
    shifts = [shift for release in releases for shift in release.shifts]
    changed = {shift.case for shift in shifts} if baseline else set()
    rows.sort(key=lambda row: (row.id not in changed, _rank(row), row.id))
    return Matrix(tuple(releases), tuple(rows), bool(baseline))


def told(record: Record) -> str:
    """A record in a few words: ``drifted (vm: InternalError)``."""
    stock = record.arms.get("stock")
    return record.verdict.value if stock is None else f"{record.verdict.value} ({stock.brief})"


def _rank(row: Row) -> int:
    return 1 if row.worst.passes else -row.worst.severity


def _columns(files: Sequence[Results]) -> list[Results]:
    """The results of each TVM and ffi together, the oldest release first."""
    found: dict[str, Results] = {}
    for one in files:
        before = found.get(one.pair, one)
        cases = {
            id: case
            for id, case in one.cases.items()
            if id not in before.cases or case["verdict"] != Verdict.SKIPPED.value
        }
        found[one.pair] = Results(
            one.name, one.header, {**before.cases, **cases}, before.cut_off or one.cut_off
        )
    return sorted(found.values(), key=lambda one: (_version(one), one.pair))


def _version(results: Results) -> Version:
    try:
        return Version(str(results.header.get("tvm")))
    except InvalidVersion:
        return Version("0")


def _releases(columns: Sequence[Results], old: Sequence[Results]) -> list[Release]:
    tvms = [str(column.header.get("tvm", "?")) for column in columns]
    found: list[Release] = []
    for tvm, column in zip(tvms, columns, strict=True):
        name = line(tvm, 60) if tvms.count(tvm) == 1 else column.pair.removeprefix("TVM ")
        records = column.records
        if old:
            same = [one for one in old if one.header.get("tvm") == column.header.get("tvm")]
            shifts = list(_since_baseline((same or old)[-1], column))
        else:
            shifts = _since_release(found[-1].records if found else {}, records)
        found.append(Release(name, column.header, records, column.cut_off, tuple(shifts)))
    return found


def _since_baseline(old: Results, new: Results) -> Iterator[Shift]:
    for change in changes.changes(old, new):
        was, came = change.old, change.new
        word = change.kind.value
        if change.kind is changes.Kind.TURNED and was and came:
            word = _turned(was, came) or word
        if change.kind is not changes.Kind.SAME:
            yield Shift(change.case, word, *(told(one) if one else "" for one in (was, came)))


def _since_release(before: Mapping[str, Record], after: Mapping[str, Record]) -> list[Shift]:
    """Where stock fails on one of two releases only, which a case may well expect."""
    found = [
        Shift(id, word, told(before[id]), told(after[id]))
        for id in before.keys() & after.keys()
        if (word := _turned(before[id], after[id]))
    ]
    return sorted(found, key=lambda shift: (shift.word, shift.case))


def _turned(before: Record, after: Record) -> str:
    was, came = before.arms.get("stock"), after.arms.get("stock")
    if was is None or came is None or bool(was.telling) == bool(came.telling):
        return ""
    return FAILS_SINCE if came.telling else OK_SINCE
