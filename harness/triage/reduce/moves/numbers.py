"""Shapes, other numbers, element types: the same change wherever they stand."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import Any

from harness.triage.reduce.edit import Edit, merged
from harness.triage.reduce.moves.base import Slot
from harness.triage.reduce.moves.keys import shape_of
from harness.triage.reduce.program import Path, Program, leaves
from harness.triage.reduce.script import called, parsed
from harness.triage.reduce.values import Types

_TENSORS = ("tensor", "full", "arange", "random")
_PLAIN = "float32"
_DTYPES = ("float16", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool")


def shapes(program: Program, types: Types) -> list[Slot]:
    """Make a number smaller wherever it stands, in shapes of arguments too.

    In steps: one shape may fail and its neighbours not.
    """
    found = {node.value for node in _constants(program) if type(node.value) is int}
    found |= {n for _, one in _arguments(program) for n in _dims(one)}
    slots: list[Slot] = []
    for old in sorted(found, reverse=True):
        smaller = [new for new in (1, 2, 3, old // 2, old * 3 // 4, old - 1) if 0 < new < old]
        edits = (
            _everywhere(program, old, new, everything)
            for everything in (False, True)
            for new in dict.fromkeys(smaller)
        )
        slots += [slot] if (slot := tuple(edits)) else []
    return slots


def _everywhere(program: Program, old: int, new: int, everything: bool) -> Edit:
    """`new` in place of `old`, as a dimension, or as an axis, an index and so on too."""
    script = parsed(program.module)
    nodes: dict[ast.AST, ast.AST | None] = {
        node: ast.Constant(new)
        for node in _constants(program)
        if type(node.value) is int and node.value == old
        if everything or _is_extent(script.parents[node])
    }
    data = {
        path: _resized(one, [new if dim == old else dim for dim in _dims(one)])
        for path, one in _arguments(program)
        if old in _dims(one)
    }
    return Edit(nodes, data=data)


def _is_extent(parent: ast.AST) -> bool:
    """Whether a number in `parent` is a dimension: in a shape, a loop, an axis of a block."""
    name = called(parent)
    return isinstance(parent, ast.Tuple | ast.List) or name == "range" or name.startswith("T.")


def _constants(program: Program) -> Iterator[ast.Constant]:
    for node in ast.walk(parsed(program.module).tree):
        if isinstance(node, ast.Constant):
            yield node


def _arguments(program: Program) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Tensors and shapes that calls are given."""
    for path, value in leaves({"run": program.data.get("run", [])}):
        if isinstance(value, dict) and any(key in value for key in (*_TENSORS, "shape")):
            yield path, value


def _dims(argument: dict[str, Any]) -> list[int]:
    if "tensor" in argument:
        return shape_of(argument)
    if "random" in argument:
        return list(argument["random"])
    return list(argument.get("shape", [argument.get("arange", 1)]))


def _resized(argument: dict[str, Any], shape: list[int]) -> dict[str, Any]:
    """The argument with another shape of the same rank; elements are cut off."""
    new = dict(argument)
    if "random" in argument:
        new["random"] = shape
    elif "arange" in argument:
        new["arange"] = math.prod(shape)
        if "shape" in argument:
            new["shape"] = shape
    elif "tensor" in argument and "shape" not in argument:
        new["tensor"] = _cut(argument["tensor"], shape)
    elif "tensor" in argument:
        new = {"full": 1, "shape": shape, "dtype": argument.get("dtype", _PLAIN)}
    else:
        new["shape"] = shape
    return new


def _cut(elements: Any, shape: list[int]) -> Any:
    if not shape:
        return elements
    return [_cut(one, shape[1:]) for one in elements[: shape[0]]]


def constants(program: Program, types: Types) -> list[Slot]:
    """Put a plainer number in the place of one, there alone."""
    script = parsed(program.module)
    slots: list[Slot] = []
    for node in _constants(program):
        value = node.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            least = 1 if isinstance(script.parents[node], ast.Tuple | ast.List) else 0
            plainer = [new for new in (0, 1, 2) if least <= new < abs(value)]
            made = [type(value)(new) for new in plainer]
            slots += [tuple(Edit({node: ast.Constant(new)}) for new in made)] if made else []
    return slots


def arguments(program: Program, types: Types) -> list[Slot]:
    """The same for the elements of arguments."""
    slots: list[Slot] = []
    for path, value in leaves({"run": program.data.get("run", [])}):
        if type(value) in (int, float) and not {"shape", "random", "arange", "item"} & set(path):
            made = [type(value)(new) for new in (0, 1, 2) if not abs(new) >= abs(value)]
            slots += [tuple(Edit(data={path: new}) for new in made)] if made else []
    return slots


def dtypes(program: Program, types: Types) -> list[Slot]:
    """Make an element type the commonest wherever it stands."""
    slots: list[Slot] = []
    for old in _DTYPES:
        nodes: dict[ast.AST, ast.AST | None] = {
            node: ast.Constant(_PLAIN) for node in _constants(program) if node.value == old
        }
        data = {
            path: _PLAIN
            for path, value in leaves({"run": program.data.get("run", [])})
            if path[-1] == "dtype" and value == old
        }
        slots += [(merged([Edit(nodes, data=data)]),)] if nodes or data else []
    return slots
