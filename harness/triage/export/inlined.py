"""The Python files beside a case, put into one program: what is needed of them and no more."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from pathlib import Path

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def inlined(file: Path, wanted: Iterable[str]) -> tuple[list[str], str]:
    """The imports of a Python file, and its text without the definitions that nothing needs.

    Raises
    ------
    SyntaxError, OSError
        When the file is none, or cannot be read.
    """
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    body = ast.parse(text).body
    imports = [one for one in body if isinstance(one, ast.Import | ast.ImportFrom)]
    rest = [one for one in body if one not in imports and not _is_docstring(one, body)]
    needed = _needed(rest, set(wanted))
    kept = [_text(one, lines) for one in rest if _kept(one, needed)]
    named = {name for one in rest if _kept(one, needed) for name in _names(one)}
    return [_text(one, lines) for one in imports if _used(one, named)], "\n\n\n".join(kept)


def _needed(body: Sequence[ast.stmt], wanted: set[str]) -> set[str]:
    """`wanted`, and all names that what is kept for their sake speaks of."""
    while True:
        more = {name for one in body if _kept(one, wanted) for name in _names(one)} - wanted
        if not more:
            return wanted
        wanted = wanted | more


def _kept(one: ast.stmt, needed: set[str]) -> bool:
    """What defines nothing, and what a decorator may have put on record, is kept in any case."""
    if isinstance(one, _DEFINITIONS):
        return one.name in needed or bool(one.decorator_list)
    if isinstance(one, ast.Assign | ast.AnnAssign):
        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
        names = {each.id for each in targets if isinstance(each, ast.Name)}
        return not names or bool(names & needed)
    return True


def _names(one: ast.AST) -> set[str]:
    """Every name in a statement; a text that is Python, as annotations may be, counts as well."""
    found = {each.id for each in ast.walk(one) if isinstance(each, ast.Name)}
    for each in ast.walk(one):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            found |= {each.value} if each.value.isidentifier() else set()
    return found


def _used(one: ast.Import | ast.ImportFrom, names: set[str]) -> bool:
    if isinstance(one, ast.ImportFrom) and one.module == "__future__":
        return True
    return any(
        alias.name == "*" or (alias.asname or alias.name.partition(".")[0]) in names
        for alias in one.names
    )


def _is_docstring(one: ast.stmt, body: Sequence[ast.stmt]) -> bool:
    return one is body[0] and isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)


def _text(one: ast.stmt, lines: Sequence[str]) -> str:
    decorators = one.decorator_list if isinstance(one, _DEFINITIONS) else []
    first = min([one.lineno, *(each.lineno for each in decorators)])
    return "\n".join(lines[first - 1 : one.end_lineno])
