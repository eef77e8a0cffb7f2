"""``-k``: choosing cases by words, as pytest users know it."""

from __future__ import annotations

import ast
import re

from harness.case import Case, labels

_TOKEN = re.compile(r"\s*(?:(?P<op>\(|\)|and\b|or\b|not\b)|(?P<word>[^\s()]+))")
# A word in front of a parenthesis would be a call.
_NODES = (
    *(ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not),
    *(ast.Subscript, ast.Name, ast.Constant, ast.Load),
)


class SelectError(ValueError):
    """The expression does not parse; the text says where and what is allowed."""


class Selection:
    """An expression of words with ``and``, ``or``, ``not`` and parentheses.

    A word is met by a case whose id, or one of whose labels or issues, contains it, letter case
    aside.

    Raises
    ------
    SelectError
        When `text` is no such expression.
    """

    def __init__(self, text: str) -> None:
        self._words: list[str] = []
        source = "".join(self._translate(match) for match in _TOKEN.finditer(text.strip()))
        try:
            tree = ast.parse(source.strip() or "True", mode="eval")
            self._code = compile(tree, "-k", "eval")
            understood = all(isinstance(node, _NODES) for node in ast.walk(tree))
        except (SyntaxError, RecursionError, MemoryError):
            understood = False
        if not understood:
            raise SelectError(
                f"-k {text!r}: expected words joined by and, or, not and parentheses, "
                'for example -k "workspace and not chain"'
            )

    def _translate(self, match: re.Match[str]) -> str:
        if match["op"]:
            return f" {match['op']} "
        self._words.append(match["word"].lower())
        return f" w[{len(self._words) - 1}] "

    def __call__(self, case: Case) -> bool:
        texts = [text.lower() for text in (case.id, *labels(case), *case.issue)]
        met = [any(word in text for text in texts) for word in self._words]
        return bool(eval(self._code, {"__builtins__": {}}, {"w": met}))
