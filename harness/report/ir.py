"""IR for people: what a pass changed, and the lines that an error is about."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import TypeVar

from rich.text import Text

from harness.report.text import code

_CONTEXT = 3
_WIDTH = 160
_MOST_LINES = 400
_Row = TypeVar("_Row")


def diff(before: str, after: str, titles: tuple[str, str]) -> Text:
    """A unified diff of two IR texts; empty when they are the same."""
    changes = difflib.unified_diff(
        before.splitlines(), after.splitlines(), *titles, lineterm="", n=_CONTEXT
    )
    styles = {"+": "right", "-": "wrong", "@": "quiet"}
    shown, more = _bounded(list(changes))
    parts = [Text(code(one, _WIDTH), style=styles.get(one[:1], "")) for one in shown]
    return Text("\n").join([*parts, *more])


def around(ir: str, message: str) -> Text:
    """The lines of `ir` that hold the rarest name that `message` speaks of, with their numbers.

    Without such a name: the beginning.
    """
    lines = ir.splitlines()
    marked = set(mentions(lines, message))
    wanted = {
        near
        for number in marked
        for near in range(number - _CONTEXT, number + _CONTEXT + 1)
        if 0 <= near < len(lines)
    } or set(range(min(len(lines), 24)))
    rows: list[Text] = []
    last = -1
    for number in sorted(wanted):
        if number > last + 1:
            rows.append(Text("     ⋮", style="quiet"))
        mark = ">" if number in marked else " "
        style = "expected" if number in marked else "quiet"
        rows.append(Text(f"{mark}{number + 1:5} {code(lines[number], _WIDTH)}", style=style))
        last = number
    shown, more = _bounded(rows)
    return Text("\n").join([*shown, *more])


def mentions(lines: Sequence[str], message: str) -> list[int]:
    """Numbers of the lines with the name, of those in the message, that fewest lines have."""
    found: list[list[int]] = []
    for name in dict.fromkeys(re.findall(r"[A-Za-z_]\w+", message)):
        word = re.compile(rf"\b{re.escape(name)}\b")
        hits = [number for number, text in enumerate(lines) if word.search(text)]
        if hits:
            found.append(hits)
    return min(found, key=len, default=[])


def _bounded(rows: list[_Row]) -> tuple[list[_Row], list[Text]]:
    more = len(rows) - _MOST_LINES
    return rows[:_MOST_LINES], [Text(f"[{more} more lines]", style="quiet")] if more > 0 else []
