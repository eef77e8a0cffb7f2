"""Where the lines of a text begin."""

from __future__ import annotations

import re
from bisect import bisect_right

_END = re.compile("\r\n|\r|\n")


class Lines:
    """The lines of a text as editors count them; YAML ends some at U+0085 and U+2028 too."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(end.end() for end in _END.finditer(text))]

    def place(self, index: int) -> tuple[int, int]:
        """Line and column, from 1, of the character at `index`; of the end for what is beyond."""
        index = min(index, len(self._text))
        line = bisect_right(self._starts, index)
        return line, index - self._starts[line - 1] + 1

    def text_of(self, line: int) -> str:
        """The text of a line, its end included."""
        start, *after = self._starts[line - 1 : line + 1]
        return self._text[start : after[0] if after else None]
