"""What is wrong with a case file, and how it is told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

LONGEST = 120  # characters of a foreign value that a message repeats


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. `line` and `column` count from 1; 0 means the file as a whole."""

    path: Path
    line: int
    column: int
    message: str
    expected: str = ""
    got: str = ""
    hint: str = ""

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}:{self.column}" if self.line else f"{self.path}"
        lines = [f"{printable(where, 500)}: {printable(self.message, 500)}"]
        lines += [f"  expected: {printable(self.expected, 500)}"] if self.expected else []
        lines += [f"  got: {printable(self.got, 500)}"] if self.got else []
        lines += [f"  hint: {printable(self.hint, 500)}"] if self.hint else []
        return "\n".join(lines)


class CaseFileError(Exception):
    """A case file that cannot be used; `problems` holds everything that is wrong with it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (str(p.path), p.line, p.column)))
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


def printable(text: str, longest: int = LONGEST) -> str:
    """`text` on one line, control characters escaped, its middle cut out when it is long."""
    if len(text) > longest:
        half = longest // 2 - 5
        text = f"{text[:half]} [...] {text[-half:]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(value: object) -> str:
    """A value out of the file, for a message: short, and with its kind where that is a question."""
    match value:
        case None:
            return "nothing (null)"
        case bool():
            return "true" if value else "false"
        case str():
            return printable(repr(value)) if value else "an empty text"
        case dict():
            keys = ", ".join(printable(str(key), 30) for key in list(value)[:5])
            more = ", ..." if len(value) > 5 else ""
            return f"a mapping with {keys}{more}" if value else "an empty mapping"
        case list() | tuple():
            return f"a list of {len(value)}" if value else "an empty list"
        case _:
            return printable(repr(value))
