"""The file that reducing writes: the author's, with less in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.case.edit import REMOVED, edited
from harness.case.reading import read_tree
from harness.case.tree import Path as Place
from harness.case.writing import put, written
from harness.triage.reduce.program import KEYS, Program
from harness.verdict.outcome import StageResult
from harness.verdict.seen import as_data


@dataclass(frozen=True, slots=True)
class SmallCase:
    """A case file that says a program, and else what `original` says.

    Attributes
    ----------
    original : str
        The text of the file that is reduced.
    path : Path
        Where the small one goes.
    """

    original: str
    path: Path

    def text(self, program: Program, expect: Any, fix: bool) -> str:
        """The file for `program`, with `expect:` as given; without its fix unless `fix`.

        Contrasts go: they are siblings of the large case.
        """
        now = read_tree(self.original).data
        wanted = {**dict.fromkeys((*KEYS, "contrasts"), REMOVED), **program.keys, "expect": expect}
        if not fix:
            wanted["fix"] = REMOVED
        changes: dict[Place, Any] = {
            (key,): value for key, value in wanted.items() if now.get(key, REMOVED) != value
        }
        try:
            return edited(self.original, changes)
        except ValueError:  # an unusual layout
            keys = {**now, **wanted}
            return written({key: value for key, value in keys.items() if value is not REMOVED})

    def write(self, text: str) -> None:
        """Put `text` in place in one go: whoever interrupts leaves the one or the other.

        Raises
        ------
        OSError
        """
        put(self.path, text)


def stock_as_seen(stages: Sequence[StageResult]) -> Any:
    """What was seen of a case, as it says it under `expect:`."""
    return {"stock": as_data(stages)}
