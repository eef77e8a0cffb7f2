"""Shorter names."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator

from harness.triage.reduce.edit import Edit, merged
from harness.triage.reduce.moves.base import Slot
from harness.triage.reduce.program import Program
from harness.triage.reduce.script import DIALECTS, Function, Script, in_order, parsed, stored
from harness.triage.reduce.values import Types

_LOCALS = "xyzabcdefghijklmnopqrstuvw"


def local_names(program: Program, types: Types) -> list[Slot]:
    """Call what has a name inside a function by a letter."""
    return [
        (_renamed(function, old, new),)
        for function in parsed(program.module).functions
        for old, new in _shorter(function)
    ]


def _shorter(function: Function) -> Iterator[tuple[str, str]]:
    own = [param.arg for param in function.parameters] + stored(function.node)
    names = [name for name in dict.fromkeys(own) if name != function.name]
    taken = {one.id for one in ast.walk(function.node) if isinstance(one, ast.Name)} | DIALECTS
    free = iter([letter for letter in _LOCALS if letter not in taken | set(names)])
    for old in names:
        if len(old) > 1 and old != "cls" and (new := next(free, "")):
            yield old, new


def _renamed(function: Function, old: str, new: str) -> Edit:
    nodes: dict[ast.AST, ast.AST | list[ast.stmt] | None] = {}
    for node in in_order(function.node):
        match node:
            case ast.Name(id=name, ctx=context) if name == old:
                nodes[node] = ast.Name(new, context)
            case ast.arg(arg=name, annotation=annotation) if name == old:
                nodes[node] = ast.arg(new, annotation)
            case ast.FunctionDef(name=name) if name == old:
                fields = dict(ast.iter_fields(node))
                nodes[node] = ast.copy_location(ast.FunctionDef(**{**fields, "name": new}), node)
    return Edit(nodes)


def function_names(program: Program, types: Types, kept: frozenset[str]) -> list[Slot]:
    """Call the functions of the module by a letter, but those in `kept`."""
    script = parsed(program.module)
    taken = {name for one in script.functions for name in (one.name, *stored(one.node))}
    free = iter([letter for letter in string.ascii_lowercase[5:] if letter not in taken])
    return [
        (_function_renamed(program, script, one, new),)
        for one in script.functions
        if len(one.name) > 1 and one.name not in kept and (new := next(free, ""))
    ]


def _function_renamed(program: Program, script: Script, function: Function, new: str) -> Edit:
    fields = dict(ast.iter_fields(function.node))
    named = ast.copy_location(ast.FunctionDef(**{**fields, "name": new}), function.node)
    edits = [Edit({function.node: named})]
    for _, mention in script.references(function.name):
        edits.append(Edit({mention: ast.Attribute(mention.value, new, mention.ctx)}))
    for index, call in enumerate(program.data.get("run", ())):
        if call.get("call") == function.name:
            edits.append(Edit(data={("run", index, "call"): new}))
    return merged(edits)
