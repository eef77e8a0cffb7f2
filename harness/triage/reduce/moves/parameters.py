"""Parameters, and the fields of those that are tuples."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from harness.triage.reduce.edit import GONE, Edit, merged
from harness.triage.reduce.moves.base import Slot
from harness.triage.reduce.moves.keys import calls_of
from harness.triage.reduce.program import Path, Program
from harness.triage.reduce.script import Function, Script, called, in_order, parsed, uses
from harness.triage.reduce.values import Types, zero

# A parameter, and which field of which field of it.
Field: TypeAlias = "tuple[str, tuple[int, ...]]"


def parameters(program: Program, types: Types) -> list[Slot]:
    """Leave out a parameter, and the argument in every call; the last first.

    Kernels lose only those that they do not use.
    """
    return _slots(program, types, lambda one, param: one.kind == "relax" or not _used(one, param))


def kernel_parameters(program: Program, types: Types) -> list[Slot]:
    """Leave out what a kernel uses too: it uses another of the type instead."""
    return _slots(program, types, lambda one, param: one.kind == "kernel" and _used(one, param))


def _used(function: Function, param: ast.arg) -> bool:
    return uses(function.node)[param.arg] > 0


def _slots(
    program: Program, types: Types, chosen: Callable[[Function, ast.arg], bool]
) -> list[Slot]:
    script = parsed(program.module)
    slots: list[Slot] = []
    for function in script.functions:
        for index, param in enumerate(function.parameters):
            if chosen(function, param):
                edits = list(_without(script, types, program, function, index, param))
                slots += [tuple(edits)] if edits else []
    return slots[::-1]


def _without(
    script: Script, types: Types, program: Program, function: Function, index: int, param: ast.arg
) -> Iterator[Edit]:
    data = {(*call, "args", index): GONE for call in calls_of(program, function.name)}
    arguments: dict[ast.AST, ast.AST | None] = {param: None}
    for _, mention in script.references(function.name):
        for argument in _arguments(script, mention)[index : index + 1]:
            arguments[argument] = None
    if not _used(function, param):
        yield Edit(arguments, data=data)
        return
    wanted = types.get((function.name, param.arg), "")
    others = [one.arg for one in function.parameters if one is not param]
    fitting = [one for one in others if types.get((function.name, one)) == wanted != ""]
    ways: list[ast.expr | None] = [ast.Name(one, ast.Load()) for one in fitting[:3]]
    if function.kind == "relax":
        ways.append(zero(wanted))
    for way in ways:
        if way is not None:
            yield Edit(arguments, {(function.node, param.arg): way}, data)


def _arguments(script: Script, mention: ast.Attribute) -> list[ast.expr]:
    """The arguments that a function gets where it is mentioned."""
    call = script.parents[mention]
    if not isinstance(call, ast.Call):
        return []
    if call.func is mention:
        return call.args
    if called(call).startswith("R.call_tir") and len(call.args) > 1:
        handed = call.args[1]
        return handed.elts if isinstance(handed, ast.Tuple) else []
    return []


def fields(program: Program, types: Types) -> list[Slot]:
    """Leave out a field of a parameter that is a tuple; accesses behind it count one less."""
    script = parsed(program.module)
    return [
        (_without_field(script, program, function, index, path, node),)
        for function in script.functions
        for index, param in enumerate(function.parameters)
        for path, node in _fields(param.annotation)
    ]


def _fields(annotation: ast.expr | None, path: tuple[int, ...] = ()) -> Iterator[Any]:
    if annotation is not None and called(annotation) == "R.Tuple":
        assert isinstance(annotation, ast.Call)
        for index, one in enumerate(annotation.args):
            yield (*path, index), one
            yield from _fields(one, (*path, index))


def _without_field(
    script: Script,
    program: Program,
    function: Function,
    index: int,
    path: tuple[int, ...],
    node: ast.expr,
) -> Edit:
    name = function.parameters[index].arg
    origins: dict[str, Field] = {name: (name, ())}
    for _, bound, value in function.bindings():
        origin = _origin(value, origins)
        if origin is not None:
            origins[bound] = origin
    edits = [Edit({node: None})]
    for access in in_order(function.node):
        if isinstance(access, ast.Subscript) and isinstance(access.slice, ast.Constant):
            place = access.slice.value
            if _origin(access.value, origins) == (name, path[:-1]) and isinstance(place, int):
                if place > path[-1]:
                    edits.append(Edit({access.slice: ast.Constant(place - 1)}))
    inner: Path = tuple(part for one in path for part in ("tuple", one))
    calls = calls_of(program, function.name)
    edits += [Edit(data={(*call, "args", index, *inner): GONE}) for call in calls]
    return merged(edits)


def _origin(value: ast.expr, origins: dict[str, Field]) -> Field | None:
    """Which field of which parameter an expression is."""
    match value:
        case ast.Name(id=name):
            return origins.get(name)
        case ast.Subscript(value=inner, slice=ast.Constant(value=int() as index)):
            origin = _origin(inner, origins)
            return (origin[0], (*origin[1], index)) if origin is not None else None
    return None
