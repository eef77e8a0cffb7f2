"""What reducing shows while it works."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from harness.triage.reduce.moves import Move
from harness.triage.reduce.oracle import Oracle
from harness.triage.reduce.program import size
from harness.triage.reduce.search import Search


class Face:
    """A line that is kept up to date on a terminal; else a line for each move that helped."""

    def __init__(self, out: Console, search: Search) -> None:
        self._out = out
        self._search = search
        self._move = "what is behind the failure"
        self._left = 0
        self._shown = search.best
        self._bar: Progress | None = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Keep the line up to date inside."""
        self._search.told = self._told
        self._search.oracle.told = self._update
        if not self._out.is_terminal:
            yield
        else:
            columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
            with Progress(*columns, console=self._out, transient=True) as self._bar:
                self._bar.add_task("")
                yield
        self._helped()

    def _told(self, move: Move, left: int) -> None:
        """A batch of candidates begins; `left` is about how many there are."""
        self._left = left
        if move.name != self._move:
            self._helped()
            self._move = move.name
        self._update()

    def _helped(self) -> None:
        """Tell what the move that ends now has come to."""
        best = self._search.best
        if best is not self._shown:
            calls = self._search.oracle.calls
            text = f"  {self._move}: {size(best)}; {calls} calls"
            self._out.print(text, style="quiet", soft_wrap=True)
            self._shown = best

    def _update(self) -> None:
        if self._bar is None:
            return
        oracle = self._search.oracle
        rate = pace(oracle)
        wait = f", {self._left / rate:.0f} s" if rate else ""
        text = (
            f"{size(self._search.best)}\n  {oracle.calls} calls, {rate:.1f} a second; "
            f"{self._move}: at most {self._left} more{wait}"
        )
        self._bar.update(self._bar.task_ids[0], description=text)
        self._left = max(self._left - 1, 0)


def pace(oracle: Oracle) -> float:
    """Calls a second."""
    return oracle.calls / oracle.seconds if oracle.seconds else 0.0
