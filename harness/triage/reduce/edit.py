"""Changes to a candidate: each a set of replacements, so that any number go together."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from harness.triage.reduce.program import Data, Path, Program
from harness.triage.reduce.scope import undefined
from harness.triage.reduce.script import (
    in_order,
    is_dataflow,
    is_output,
    loads,
    parsed,
    stored,
)


class _Gone(Enum):
    GONE = "gone"


GONE: Final = _Gone.GONE


@dataclass(frozen=True, slots=True)
class Edit:
    """What takes the place of what.

    Attributes
    ----------
    nodes : mapping from node to node, list of statements, or None
        Of the syntax tree; None takes the node out of the list it stands in.
    names : mapping from (function, name) to expression
        What stands for the uses of a name that has no value any more.
    data : mapping from path to value or GONE
    """

    nodes: Mapping[ast.AST, ast.AST | list[ast.stmt] | None] = field(default_factory=dict)
    names: Mapping[tuple[ast.FunctionDef, str], ast.expr] = field(default_factory=dict)
    data: Mapping[Path, Any] = field(default_factory=dict)


class _Refused(Exception):
    """The edits do not go together, or leave nothing that makes sense."""


def merged(edits: Iterable[Edit]) -> Edit:
    """All of `edits` at once."""
    nodes: dict[ast.AST, ast.AST | list[ast.stmt] | None] = {}
    names: dict[tuple[ast.FunctionDef, str], ast.expr] = {}
    data: dict[Path, Any] = {}
    for edit in edits:
        nodes.update(edit.nodes)
        names.update(edit.names)
        data.update(edit.data)
    return Edit(nodes, names, data)


def applied(program: Program, edit: Edit) -> Program | None:
    """`program` with the edit made; None when it is plain without a run that nothing comes of it.

    Names without a value, and modules without a function, are not worth a run.
    """
    try:
        data = _changed(program.data, edit.data) if edit.data else program.data
        if not edit.nodes and not edit.names:
            return Program(program.module, data)
        tree = _Rebuild(edit).visit(parsed(program.module).tree)
        if not isinstance(tree, ast.Module) or undefined(tree):
            return None
        text = ast.unparse(tree) + "\n"
    except (_Refused, LookupError, TypeError, ValueError, RecursionError):
        return None
    return Program(text, data)


def _changed(data: Data, changes: Mapping[Path, Any]) -> Data:
    """A copy of `data` with other values; paths are those before the change."""
    new = copy.deepcopy(data)
    for path, value in changes.items():
        if value is not GONE:
            _holder(new, path)[path[-1]] = value
    gone = [path for path, value in changes.items() if value is GONE]
    for path in sorted(gone, key=_depth_and_place, reverse=True):
        del _holder(new, path)[path[-1]]
    return {key: value for key, value in new.items() if value != [] and value != {}}


def _depth_and_place(path: Path) -> tuple[int, int]:
    return len(path), path[-1] if isinstance(path[-1], int) else 0


def _holder(data: Any, path: Path) -> Any:
    for item in path[:-1]:
        data = data[item]
    return data


class _Rebuild:
    """Makes a tree anew where the edit, or what follows from it, changes it; shares the rest."""

    def __init__(self, edit: Edit) -> None:
        self._edit = edit
        self._functions: list[ast.FunctionDef] = []

    def visit(self, node: ast.AST) -> Any:
        """What takes the place of `node`: a node, a list of statements, or None."""
        nodes = self._edit.nodes
        while node in nodes:
            new = nodes[node]
            if new is None:
                return None
            if isinstance(new, list):
                return self._each(new)
            node = new
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return self._value_of(node)
        if is_output(node):
            return node
        if not isinstance(node, ast.FunctionDef):
            return self._rebuilt(node)
        self._functions.append(node)
        try:
            return self._rebuilt(node)
        finally:
            self._functions.pop()

    def _value_of(self, node: ast.Name) -> ast.expr:
        """What a name stands for: what took its place may have gone as well."""
        if not self._functions:
            return node
        seen, now = set(), ast.expr()
        now = node
        while isinstance(now, ast.Name) and now.id not in seen:
            seen.add(now.id)
            names = self._edit.names
            now = names.get((self._functions[0], now.id), now)
        return now

    def _each(self, nodes: Iterable[Any]) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            new = self.visit(node) if isinstance(node, ast.AST) else node
            if isinstance(new, list):
                found += new
            elif new is not None or node is None:
                found.append(new)
        return found

    def _rebuilt(self, node: ast.AST) -> Any:
        fields: dict[str, Any] = {}
        changed = False
        for name, value in ast.iter_fields(node):
            new = value
            if isinstance(value, list):
                new = self._each(value)
                changed |= len(new) != len(value) or any(a is not b for a, b in zip(new, value))
            elif isinstance(value, ast.AST):
                new = self.visit(value)
                changed |= new is not value
                if isinstance(new, list):
                    raise _Refused
            fields[name] = new
        return _mended(ast.copy_location(type(node)(**fields), node)) if changed else node


def _mended(node: ast.AST) -> ast.AST | None:
    """`node` without what has become empty around a change, and with what has to be there."""
    match node:
        case ast.With() | ast.For() | ast.While() if not [s for s in node.body if not is_output(s)]:
            return None
        case ast.If() if not node.body:
            return None
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(attr="func_attr"), args=[ast.Dict(keys=[])])
        ):
            return None
        case ast.ClassDef(body=[]):
            raise _Refused
        case ast.FunctionDef():
            return _mended_function(node)
    return node


def _mended_function(node: ast.FunctionDef) -> ast.FunctionDef:
    node.decorator_list = [
        one.func if isinstance(one, ast.Call) and not (one.args or one.keywords) else one
        for one in node.decorator_list
    ]
    if not node.body:
        node.body = ast.parse("T.evaluate(0)").body
    uses = Counter(name.id for name in loads(node))
    outputs: dict[ast.AST, ast.AST | list[ast.stmt] | None] = {}
    for block in in_order(node):
        if isinstance(block, ast.With) and is_dataflow(block):
            outputs.update(_output(block, uses))
    # Made anew, not changed: other candidates share what stands in there.
    mended: ast.FunctionDef = _Rebuild(Edit(outputs)).visit(node) if outputs else node
    return mended


def _output(block: ast.With, uses: Counter[str]) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
    """A dataflow block puts out what is used behind it, and of the rest what it did before."""
    inside = Counter(name.id for name in loads(block))
    defined = stored(block)
    for output in filter(is_output, block.body):
        assert isinstance(output, ast.Expr)
        assert isinstance(output.value, ast.Call)
        named = [one.id for one in output.value.args if isinstance(one, ast.Name)]
        wanted = [name for name in defined if name in named or uses[name] > inside[name]]
        needed = wanted or defined[-1:]
        if needed != named:
            yield output, ast.parse(f"R.output({', '.join(needed)})").body
