"""TVMScript in a script: its text, complete in itself."""

from __future__ import annotations

import ast
import textwrap

from harness.triage.new.course import Course, plain_values
from harness.triage.new.names import free_in
from harness.triage.new.values import Name, Text, Unbound, Unknown, Value

# What is in scope where a case's module is parsed.
_IN_SCOPE = {
    "I": "tvm.script.ir",
    "R": "tvm.script.relax",
    "T": "tvm.script.tirx",
    "tvm": "tvm",
}
_LETTER = {
    "tvm.script.ir": "I",
    "tvm.script.parser.ir": "I",
    "tvm.script.relax": "R",
    "tvm.script.parser.relax": "R",
    "tvm.script.tirx": "T",
    "tvm.script.parser.tirx": "T",
}
_DECORATORS = ("prim_func", "function", "ir_module")


def script_of(course: Course, node: ast.ClassDef | ast.FunctionDef) -> Text | None:
    """The TVMScript that a decorated class or function is; None when it is ordinary Python."""
    for one in node.decorator_list:
        path = course.names.path(one.func if isinstance(one, ast.Call) else one)
        head, _, last = path.rpartition(".")
        if last in _DECORATORS and (head in _LETTER or head == "tvm.script"):
            return _text(course, node)
    return None


def _text(course: Course, node: ast.ClassDef | ast.FunctionDef) -> Text:
    free = free_in(node) - {node.name}
    plain = plain_values(course, free)
    lacking: list[Unbound | Unknown] = []
    for name in sorted(free - set(plain)):
        place = next(one for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == name)
        value: Value = course.lookup(place)
        match value:
            case Name(path=path) if path.startswith("builtins.") or _IN_SCOPE.get(name) == path:
                pass
            case Name(path=path) if _known(path):
                pass
            case Unbound():
                lacking.append(value)
            case _:
                lacking.append(course.unknown(place))
    text = _replaced(course, node, plain)
    name, function = node.name, isinstance(node, ast.FunctionDef)
    return Text(text, name, course.at(node), function, tuple(lacking))


def _known(path: str) -> bool:
    """Whether a name of an import can be said by the letters that are in scope."""
    return path in _LETTER or any(path.startswith(f"{one}.") for one in (*_LETTER, "tvm"))


def _said(path: str) -> str:
    for module, letter in _LETTER.items():
        if path == module or path.startswith(f"{module}."):
            return letter + path.removeprefix(module)
    if path in ("tvm.script.ir_module", "tvm.script.prim_func"):
        return {"ir_module": "I.ir_module", "prim_func": "T.prim_func"}[path.rpartition(".")[2]]
    return path


def _replaced(course: Course, node: ast.ClassDef | ast.FunctionDef, plain: dict[str, Value]) -> str:
    """The lines of `node`, with values in place of the names that stand for them."""
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    lines = [line.encode() for line in course.source.split("\n")]
    edits: list[tuple[int, int, int, str]] = []
    todo: list[ast.AST] = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, ast.Name | ast.Attribute) and isinstance(one.ctx, ast.Load):
            new = _renamed(course, one, plain)
            if new is not None:
                if new != ast.unparse(one) and one.lineno == one.end_lineno:
                    edits.append((one.lineno, one.col_offset, one.end_col_offset or 0, new))
                continue
        todo += ast.iter_child_nodes(one)
    for line, start, end, new in sorted(edits, reverse=True):
        raw = lines[line - 1]
        lines[line - 1] = raw[:start] + new.encode() + raw[end:]
    chosen = [raw.decode() for raw in lines[first - 1 : node.end_lineno]]
    indent = len(chosen[0]) - len(chosen[0].lstrip())
    return (
        textwrap.dedent("\n".join(line if line.strip() else "" for line in chosen)) + "\n"
        if (indent)
        else "\n".join(chosen) + "\n"
    )


def _renamed(course: Course, node: ast.Name | ast.Attribute, plain: dict[str, Value]) -> str | None:
    """What to write for a name; None where nothing has to be changed, or inside of it."""
    if isinstance(node, ast.Name) and node.id in plain:
        return repr(plain[node.id])
    path = course.names.path(node)
    if not path or (isinstance(node, ast.Name) and path == _IN_SCOPE.get(node.id)):
        return None
    return _said(path)
