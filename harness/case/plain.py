"""What a YAML scalar without quotes stands for, and which ones nobody should have to guess at."""

from __future__ import annotations

import re

LONGEST_NUMBER = 400  # digits; longer ones are read as floats, that is, as infinite

_BOOL = {"true": True, "false": False}
_NULL = {"", "~", "null"}
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_SPECIAL = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_TRAPS = tuple(
    (re.compile(rf"(?:{pattern})\Z"), expected, hint)
    for pattern, expected, hint in (
        (
            "yes|no|on|off|true|false",
            "true or false, or a text in quotes",
            "YAML 1.1 takes it for a boolean",
        ),
        ("null", "null, or a text in quotes", "YAML 1.1 takes it for null"),
        (
            r"[-+]?0(?:o[0-7]+|b[01_]+|[0-9_]+)",
            "a decimal number without leading zeros, or a text in quotes",
            "YAML 1.1 takes it for an octal or binary number",
        ),
        (
            r"(?=.*_)[-+]?(?:0x[0-9a-f_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)",
            "a number without underscores, or a text in quotes",
            "YAML 1.1 drops the underscores",
        ),
        (
            r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?",
            "a plain number, or a text in quotes",
            "YAML 1.1 takes it for a number to the base of 60",
        ),
        (
            r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[t \t].*)?",
            "a text in quotes",
            "YAML 1.1 takes it for a date",
        ),
        ("[-+]?(?:inf|infinity|nan)", ".inf, -.inf, .nan, or a text in quotes", ""),
    )
)


# The words that are, or might be taken for, something else than a text.
_SPECIAL_WORDS = {"yes", "no", "on", "off", "true", "false", "null", "inf", "infinity", "nan"}


class Misread(Exception):
    """A scalar that one YAML version reads in another way than the next."""

    def __init__(self, expected: str, hint: str) -> None:
        super().__init__(expected, hint)
        self.expected = expected
        self.hint = hint


def plain_value(text: str) -> bool | int | float | str | None:
    """The value of a plain scalar: as YAML 1.2 has it, where YAML 1.1 does not say otherwise.

    Raises
    ------
    Misread
    """
    if text[:1].isalpha() and text.lower() not in _SPECIAL_WORDS:
        return text  # most scalars are: the rest is slower
    if text.isdecimal() and text.isascii() and text[0] != "0" and len(text) <= LONGEST_NUMBER:
        return int(text)  # most others are
    if text in _BOOL:
        return _BOOL[text]
    if text in _NULL:
        return None
    lowered = text.lower()
    for trap, expected, hint in _TRAPS:
        if trap.match(lowered):
            raise Misread(expected, hint)
    if _INT.match(text) and len(text) <= LONGEST_NUMBER:
        return int(text, 0)
    if _FLOAT.match(text):
        return float(text)
    if _SPECIAL.match(text):
        return float(text.replace(".", ""))
    return text
