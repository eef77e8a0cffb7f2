"""The statements that an expression needs, and no others: a Python file beside the case."""

from __future__ import annotations

import ast
import builtins
import copy
import textwrap
from dataclasses import dataclass, field

from harness.triage.new.course import Course, Variable
from harness.triage.new.names import USUAL, bound_by, free_in
from harness.triage.new.values import Module, Name, Text, Value

_OWN = frozenset(dir(builtins)) | {"__name__", "__file__"}


@dataclass(slots=True)
class Slice:
    """What has to come in front of an expression, or of a statement.

    `start` has the variables that hold a module where the slice begins, with the modules; `usual`
    are imports that the script forgot, `lacking` the names that the report does not define.
    """

    entries: set[int] = field(default_factory=set)
    start: dict[Variable, tuple[int, Module | Text]] = field(default_factory=dict)
    usual: set[str] = field(default_factory=set)
    lacking: dict[str, int] = field(default_factory=dict)


def needed(course: Course, what: ast.AST, at: int, scope: int, stop: str | None = None) -> Slice:
    """The entries of the log that `what`, standing behind `at` of them, needs.

    Every module is where a slice may begin, unless `stop` names the only one that is.
    """
    found = Slice()
    todo = [(name, scope, at, what) for name in free_in(what)]
    seen: set[tuple[str, int, int]] = set()
    while todo:
        name, here, before, node = todo.pop()
        if (name, here, before) in seen:
            continue
        course.step()
        seen.add((name, here, before))
        variable = course.variable(name, here)
        written = _writers(course, variable, before)
        if not written and name not in bound_by(node):
            _note_lacking(course, found, name, node)
        for index in written:
            entry = course.log[index]
            value = entry.writes.get(variable)
            modular = name in course.as_modules
            if entry.kills and value is not None and _begins(value, name, stop, modular):
                found.start.setdefault(variable, (index, value))
                continue
            found.entries.add(index)
            late = isinstance(entry.node, ast.FunctionDef | ast.ClassDef)
            where = before if late else index
            todo += [(each, entry.scope, where, entry.node) for each in free_in(entry.node)]
    return found


def _begins(value: Value, name: str, stop: str | None, modular: bool) -> bool:
    is_module = isinstance(value, Module) or (
        isinstance(value, Text) and (modular or not value.function)
    )
    return is_module and (stop is None or name == stop)


def _writers(course: Course, variable: Variable, before: int) -> list[int]:
    """Who gave a variable the value it has in front of entry `before`: back to a plain binding."""
    found = []
    for index in range(min(before, len(course.log)) - 1, -1, -1):
        entry = course.log[index]
        if variable in entry.writes:
            found.append(index)
            if entry.kills:
                return found
    return found


def _note_lacking(course: Course, found: Slice, name: str, node: ast.AST) -> None:
    if name in USUAL:
        found.usual.add(name)
    elif name not in _OWN:
        places = (one for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == name)
        found.lacking.setdefault(name, course.at(next(places, node)))


def start_of(course: Course, what: ast.AST, at: int, scope: int) -> tuple[str, Value]:
    """The module that a slice for `what` may begin at: the one that went through most passes.

    ``("", None)`` when it needs none.
    """
    begins = needed(course, what, at, scope).start
    if not begins:
        return "", None
    (name, _), (_, value) = max(begins.items(), key=lambda one: (_passed(one[1][1]), one[1][0]))
    return name, value


def _passed(value: Module | Text) -> int:
    return len(value.steps) if isinstance(value, Module) else -1


def written_out(course: Course, found: Slice) -> tuple[list[str], list[str]]:
    """The statements of a slice, and the imports among them."""
    imports = [f"{_import(name)}" for name in sorted(found.usual)]
    body: list[str] = []
    for index in sorted(found.entries):
        node = course.log[index].node
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.append(ast.unparse(node))
        else:
            alone = isinstance(node, ast.FunctionDef | ast.ClassDef)
            body.append(source_of(course, node) + ("\n" if alone else ""))
    return body, imports


def _import(name: str) -> str:
    head, _, last = USUAL[name].rpartition(".")
    said = last if last == name else f"{last} as {name}"
    return f"from {head} import {said}" if head else f"import {said}"


def source_of(course: Course, node: ast.stmt) -> str:
    """A statement as the script has it, at the left margin."""
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    lines = course.source.split("\n")[first - 1 : node.end_lineno]
    alone = lines and not lines[0][: _column(node, first)].strip()
    whole = alone and _is_behind(lines, node)
    if not whole or _has_long_text(node) or not hasattr(node, "end_col_offset"):
        return ast.unparse(ast.fix_missing_locations(copy.deepcopy(node)))
    text = textwrap.dedent("\n".join(line if line.strip() else "" for line in lines))
    return _unchecked_text(text, node)


def _column(node: ast.stmt, first: int) -> int:
    return node.col_offset if node.lineno == first else 0


def _is_behind(lines: list[str], node: ast.stmt) -> bool:
    """Whether nothing but a comment stands behind `node` on its last line."""
    rest = lines[-1].encode()[node.end_col_offset or 0 :].decode(errors="replace").strip()
    return not rest or rest.startswith("#")


def _has_long_text(node: ast.stmt) -> bool:
    """Whether a text goes over several lines, so that indenting would change it."""
    return any(
        isinstance(one, ast.JoinedStr | ast.Constant)
        and (one.end_lineno or 0) > one.lineno
        and not (isinstance(one, ast.Constant) and not isinstance(one.value, str))
        for one in ast.walk(node)
    )


def _unchecked_text(text: str, node: ast.stmt) -> str:
    """The parser's own check hides the reason why a module is ill-formed."""
    if not isinstance(node, ast.ClassDef):
        return text
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line.strip() in ("@I.ir_module", "@tvm.script.ir_module", "@ir_module"):
            lines[number] = f"{line.rstrip()}(check_well_formed=False)"
    return "\n".join(lines)


def reads_modules(course: Course, found: Slice) -> set[str]:
    """The modules that the statements of a slice import, by the first part of their names."""
    modules = set()
    for index in found.entries:
        entry = course.log[index]
        if isinstance(entry.node, ast.Import | ast.ImportFrom):
            for value in entry.writes.values():
                if isinstance(value, Name):
                    modules.add(value.path.partition(".")[0])
    return modules
