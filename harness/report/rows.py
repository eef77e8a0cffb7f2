"""Keys on the left, what is known on the right."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

KEY_WIDTH = 13


def rows(found: Iterable[tuple[str, Text | str]]) -> Table:
    """A line for each key; one that is "" goes on with what stands above it."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="quiet", no_wrap=True, width=KEY_WIDTH)
    table.add_column(overflow="fold", ratio=1)
    for key, value in found:
        table.add_row(key, value)
    return table
