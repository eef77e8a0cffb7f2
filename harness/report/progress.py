"""How far a run has come, for whoever watches a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def progress(console: Console, total: int) -> Iterator[Callable[[], None]]:
    """A bar below what is printed on `console`; nothing when that is not a terminal.

    Gives a function to call as each case ends.
    """
    if not console.is_terminal or total < 2:
        yield lambda: None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("cases"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)
