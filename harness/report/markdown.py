"""Results as Markdown for the summary of a CI step: what changed first, and never too large."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from harness.report.matrix import Matrix, Row
from harness.report.records import Record
from harness.report.text import line
from harness.verdict.word import Verdict

# GitHub drops a summary of more than 1,024 KiB as a whole.
BUDGET: Final = 1_000_000
_REASON = 300
# What begins markup. An entity never does.
_MARKUP = re.compile(r"[^\w\s,;:.()/'=+-]|(?<![^\W_])_|_(?![^\W_])")
# What becomes a mention or a link in the finished text, where entities are characters again.
_LINK = re.compile(r"@|#(?=\d)|:(?=//)|(?<=\bwww)\.", re.IGNORECASE)
_BREAK: Final = "\u200b"
_NOTE: Final = "\n{} more rows: see the HTML report.\n"


def step_summary(matrix: Matrix, budget: int = BUDGET) -> str:
    """The summary, in at most `budget` bytes of UTF-8; rows that do not fit are counted.

    Order: counts, changes, verdicts that need a person, all cases.
    """
    parts: list[str] = []
    left = budget
    for title, head, rows in _sections(matrix):
        part = _fitting(f"\n## {title}\n\n", head, rows, left)
        parts.append(part)
        left -= len(part.encode())
    return "".join(parts)


def safe(text: str, limit: int = 200) -> str:
    """Hostile text on one line, as it reads, without any meaning to Markdown, HTML or GitHub."""
    shown = _LINK.sub(lambda found: f"{found[0]}\0", line(text, limit))
    shown = _MARKUP.sub(lambda found: f"&#{ord(found[0])};", shown)
    return shown.replace("&#0;", _BREAK)


def _sections(matrix: Matrix) -> Iterator[tuple[str, Sequence[str], Iterable[str]]]:
    names = [safe(release.name) for release in matrix.releases]
    verdicts = [word for word in Verdict if any(word is one for one in _all(matrix))]
    yield (
        "Verdicts",
        ["verdict", *names],
        (
            _cells([word.value, *(str(matrix.count(word, n) or "") for n in range(len(names)))])
            for word in verdicts
        ),
    )
    what = "What changed" if matrix.has_baseline else "What changed, release by release"
    yield (
        what,
        ["change", "case", "TVM", "was", "is"],
        (
            _cells(
                [shift.word]
                + [safe(one) for one in (shift.case, release.name, shift.was, shift.came)]
            )
            for release in matrix.releases
            for shift in release.shifts
        ),
    )
    yield (
        "Needs a person",
        ["verdict", "case", "TVM", "reason"],
        (
            _cells(
                [record.verdict.value, safe(row.id), names[number], safe(record.reason, _REASON)]
            )
            for row in matrix.rows
            for number, record in sorted(row.records.items())
            if not record.verdict.passes
        ),
    )
    yield (
        "All cases",
        ["case", *names],
        (
            _cells([_title(row), *(_cell(row.records.get(n)) for n in range(len(names)))])
            for row in matrix.rows
        ),
    )


def _fitting(title: str, head: Sequence[str], rows: Iterable[str], budget: int) -> str:
    """A table of the rows that fit, or "" when there are none; the rest is counted."""
    parts = [title, _cells(head), "|---" * len(head) + "|\n"]
    size = sum(len(part.encode()) for part in parts)
    room = len(_NOTE.format(10**9))
    count = more = 0
    for row in rows:
        size += len(row.encode())
        if more or size + room > budget:
            more += 1
        else:
            parts.append(row)
            count += 1
    note = _NOTE.format(more) if more else ""
    whole = "".join([*parts, note]) if count else note
    return whole if len(whole.encode()) <= budget else ""


def _all(matrix: Matrix) -> Iterator[Verdict]:
    for release in matrix.releases:
        yield from (record.verdict for record in release.records.values())


def _title(row: Row) -> str:
    title = f"{safe(row.case.title)}<br>" if row.case else ""
    return f"{title}<sub>{safe(row.id)}</sub>"


def _cell(record: Record | None) -> str:
    if record is None:
        return ""
    word = record.verdict.value if record.verdict.passes else f"**{record.verdict.value}**"
    briefs = (f"<br>{safe(name)} {safe(arm.brief, 60)}" for name, arm in record.arms.items())
    return word + "".join(briefs)


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
