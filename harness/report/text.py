"""Making text from TVM, from kernels and from case files safe to show."""

from __future__ import annotations

import unicodedata

from rich.text import Text

# Control, format (bidi overrides, zero width), surrogate, private, unassigned, line separators.
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_SHORT = {"\n": " ⏎ ", "\t": " "}


def line(text: str, limit: int = 200) -> str:
    """`text` on one line: controls escaped, blanks squeezed, cut in the middle to `limit`.

    Parameters
    ----------
    text : str
        Anything, hostile text included.
    limit : int
        Characters kept; the end often holds the reason, so both ends stay.
    """
    text = cut(text.strip(), 4 * limit)
    return cut(" ".join(escape(text).split()), limit)


def lines(text: str, count: int, limit: int = 200) -> list[str]:
    """The last `count` lines of `text` that are not blank, each as `line` has it."""
    tail = text[-count * 4 * limit :].splitlines()
    return [line(one, limit) for one in tail if one.strip()][-count:]


def escape(text: str) -> str:
    """`text` with every character that a terminal could act on spelt out."""
    if text.isprintable():
        return text
    return "".join(_SHORT.get(letter) or _visible(letter) for letter in text)


def cut(text: str, limit: int) -> str:
    """`text`, or its two ends around an ellipsis when it is longer than `limit`."""
    if len(text) <= limit:
        return text
    head = (limit - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (limit - 1 - head) :]}"


def styled(text: str, style: str = "", limit: int = 200) -> Text:
    """`text` as `line` has it, in a style; square brackets in it are no markup."""
    return Text(line(text, limit), style=style)


def _visible(letter: str) -> str:
    if unicodedata.category(letter) not in _UNSAFE:
        return letter
    return letter.encode("unicode_escape").decode("ascii")


def code(text: str, limit: int = 200) -> str:
    """A line of program text: its indentation stays, control characters are escaped."""
    return cut(escape(text.expandtabs()), limit)


def block(text: str, limit: int = 20_000) -> str:
    """Text of many lines, each as `code` has it; cut in the middle to about `limit` characters."""
    rows = cut(text, limit).replace("\r\n", "\n").split("\n")
    return "\n".join(escape(row.expandtabs()) for row in rows).rstrip()
