"""Functions, bindings and blocks: the parts of a module."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from harness.triage.reduce.edit import GONE, Edit, merged
from harness.triage.reduce.moves.base import Slot
from harness.triage.reduce.moves.keys import calls_of
from harness.triage.reduce.program import Program
from harness.triage.reduce.script import (
    Function,
    Script,
    binding,
    called,
    in_order,
    is_dataflow,
    is_output,
    loads,
    parsed,
    stored,
    uses,
)
from harness.triage.reduce.values import Types, stand_ins


def functions(program: Program, types: Types) -> list[Slot]:
    """Leave out a function; where it was called, something else of the type stands."""
    script = parsed(program.module)
    if len(script.functions) < 2:
        return []
    slots: list[Slot] = []
    for function in script.functions:
        edits = [Edit({function.node: None})]
        for caller, mention in script.references(function.name):
            if caller is not function:
                edits += _without_mention(script, types, caller, mention)
        edits += [Edit(data={path: GONE}) for path in calls_of(program, function.name)]
        slots.append((merged(edits),))
    return slots


def _without_mention(
    script: Script, types: Types, caller: Function, mention: ast.Attribute
) -> Iterator[Edit]:
    for node in script.up(mention):
        if isinstance(node, ast.Call):
            parent = script.parents[node]
            if binding(parent) is not None:
                yield from _removals(script, types, caller, parent)[:1]
            else:
                first = next(stand_ins(script, types, caller, "", node), None)
                yield Edit({node: first}) if first else Edit()
            return
        if isinstance(node, ast.stmt):
            yield from _removals(script, types, caller, node)[:1]
            return


def statements(program: Program, types: Types) -> list[Slot]:
    """Leave out a statement; something else stands for the names that it bound. The last first."""
    script = parsed(program.module)
    slots: list[Slot] = []
    for function in script.functions:
        for node in in_order(function.node):
            if isinstance(node, ast.stmt) and not (is_output(node) or isinstance(node, ast.Return)):
                edits = _removals(script, types, function, node)
                slots += [tuple(edits)] if edits else []
    return slots[::-1]


def kernel_statements(program: Program, types: Types) -> list[Slot]:
    return _only(program, statements(program, types), "kernel")


def relax_statements(program: Program, types: Types) -> list[Slot]:
    return _only(program, statements(program, types), "relax")


def _only(program: Program, slots: list[Slot], kind: str) -> list[Slot]:
    script = parsed(program.module)
    inside = {
        id(node) for one in script.functions if one.kind == kind for node in ast.walk(one.node)
    }
    return [slot for slot in slots if any(id(node) in inside for node in slot[0].nodes)]


def _removals(script: Script, types: Types, function: Function, node: ast.AST) -> list[Edit]:
    """Ways to do without a statement; none when it binds what nothing can stand for."""
    bound = [found for one in [node, *in_order(node)] if (found := binding(one)) is not None]
    values = {name: value for _, name, value in reversed(bound)}
    outside = uses(function.node) - Counter(name.id for name in loads(node))
    choices: list[list[tuple[str, ast.expr]]] = []
    for name in stored(node):
        if outside[name]:
            value = values.get(name, ast.Constant(0))
            ways = list(stand_ins(script, types, function, name, value))
            if function.kind == "kernel":
                ways = [*ways[::-1], ast.Constant(0)]
            choices.append([(name, way) for way in ways])
    if not all(choices):
        return []
    longest = max(map(len, choices), default=1)
    return [
        Edit(
            {node: None},
            {(function.node, name): way for name, way in (c[min(i, len(c) - 1)] for c in choices)},
        )
        for i in range(longest)
    ]


def blocks(program: Program, types: Types) -> list[Slot]:
    """Put what stands inside a block in its place: a branch, a dataflow block, a loop body."""
    script = parsed(program.module)
    slots: list[Slot] = []
    for function in script.functions:
        for node in in_order(function.node):
            edits = tuple(_opened(function, node))
            slots += [edits] if edits else []
    return slots[::-1]


def relax_blocks(program: Program, types: Types) -> list[Slot]:
    return _only(program, blocks(program, types), "relax")


def kernel_scopes(program: Program, types: Types) -> list[Slot]:
    slots = _only(program, blocks(program, types), "kernel")
    return [slot for slot in slots if _opens(slot, ast.With)]


def kernel_blocks(program: Program, types: Types) -> list[Slot]:
    slots = _only(program, blocks(program, types), "kernel")
    return [slot for slot in slots if not _opens(slot, ast.With)]


def _opens(slot: Slot, kind: type[ast.stmt]) -> bool:
    return any(isinstance(node, kind) for node in slot[0].nodes)


def _opened(function: Function, node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.If(body=body, orelse=orelse):
            yield Edit({node: body})
            if orelse:
                yield Edit({node: orelse})
        case ast.With(body=body):
            inner = [one for one in body if not is_output(one)]
            yield Edit({node: inner if is_dataflow(node) else body})
        case ast.For(target=target, body=body):
            names = [one.id for one in ast.walk(target) if isinstance(one, ast.Name)]
            zero = ast.Constant(0)
            yield Edit({node: body}, {(function.node, name): zero for name in names})


def returns(program: Program, types: Types) -> list[Slot]:
    """Let a function return something else: a parameter, or what is bound earlier.

    What it is said to return goes, since it may have another type.
    """
    slots: list[Slot] = []
    for function in parsed(program.module).functions:
        for node in in_order(function.node):
            if not isinstance(node, ast.Return) or node.value is None:
                continue
            now = ast.unparse(node.value)
            names = [one.arg for one in function.parameters]
            names += [
                name for _, name, value in function.bindings() if called(value) or name != now
            ]
            untyped: dict[ast.AST, ast.AST | None] = {}
            if function.node.returns is not None:
                untyped = {function.node.returns: None}
            edits = [
                Edit({node.value: ast.Name(name, ast.Load()), **untyped})
                for name in dict.fromkeys(names)
                if name not in (now, "cls")
            ]
            slots.append((*([Edit(untyped)] if untyped else []), *edits[:40]))
    return [slot for slot in slots if slot]
