"""The one place that decides on colour and width."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from rich.console import Console, RenderableType
from rich.theme import Theme

STYLES = Theme(
    {
        "right": "green",
        "expected": "yellow",
        "wrong": "bold red",
        "quiet": "dim",
        "title": "bold",
    }
)
_NARROW = 40


def console(stream: TextIO | None = None) -> Console:
    """A console for `stream` (stdout): plain text unless it is a terminal.

    ``NO_COLOR``, set to anything, keeps a terminal without colour. What the encoding of the
    stream cannot say is escaped.
    """
    stream = sys.stdout if stream is None else stream
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return _make(stream, None, stream.isatty())


def as_text(renderable: RenderableType, width: int = 80, colour: bool = False) -> str:
    """`renderable` as a string of lines no longer than `width`, for those who print themselves."""
    stream = io.StringIO()
    _make(stream, max(width, _NARROW), colour).print(renderable)
    return stream.getvalue()


def _make(stream: TextIO, width: int | None, terminal: bool) -> Console:
    return Console(
        file=stream,
        width=width,
        force_terminal=terminal,
        no_color=bool(os.environ.get("NO_COLOR")) or not terminal,
        markup=False,
        emoji=False,
        highlight=False,
        theme=STYLES,
    )
