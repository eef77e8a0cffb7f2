"""Two IR texts side by side: which lines belong together, and which an error is about."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.report.ir import mentions
from harness.report.text import block, line

_MOST_CHARACTERS = 200_000
_QUADRATIC = 2_000  # lines, from which on difflib takes its short cut


@dataclass(frozen=True, slots=True)
class Sides:
    """The IR before and after something, in one arm on one TVM.

    Attributes
    ----------
    tvm : str
        The release that printed it.
    title : str
        What it is: a pass and an arm.
    names : (str, str)
        Of the left and the right side.
    left, right : str
        The texts; `right` is "" when a pass raises and there is none.
    message : str
        What the check after it, or the pass itself, complains of; "" when nothing does.
    """

    tvm: str
    title: str
    names: tuple[str, str]
    left: str
    right: str
    message: str = ""


def as_data(sides: Sides) -> dict[str, Any]:
    """What the page's script shows: texts, ``difflib`` opcodes, and the lines to mark."""
    left, right = _lines(sides.left), _lines(sides.right)
    matcher = difflib.SequenceMatcher(
        None, left, right, autojunk=len(left) + len(right) > _QUADRATIC
    )
    side = right or left
    return {
        "tvm": line(sides.tvm),
        "title": line(sides.title),
        "names": [line(name) for name in sides.names],
        "left": left,
        "right": right,
        "ops": [[tag[0], *places] for tag, *places in matcher.get_opcodes()] if right else [],
        "marks": mentions(side, sides.message) if sides.message else [],
        "message": block(sides.message, 2_000),
    }


def _lines(text: str) -> Sequence[str]:
    return block(text, _MOST_CHARACTERS).split("\n") if text else []
