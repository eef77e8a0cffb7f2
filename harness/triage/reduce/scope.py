"""Names without a value: a candidate that has one is refused before it costs a run."""

from __future__ import annotations

import ast
import builtins

from harness.triage.reduce.script import DIALECTS, in_order, members

_ALWAYS = DIALECTS | set(dir(builtins)) | {"tvm", "np", "tvm_ffi", "relax", "tirx", "tir"}


def undefined(tree: ast.Module) -> list[str]:
    """Names that are used in a module text and have no value anywhere in reach.

    Where in a function a name gets its value is not looked at: TVM's parser finds what is left.
    """
    known = set(_ALWAYS)
    functions: list[ast.FunctionDef] = []
    for node in tree.body:
        known |= {node.name} if isinstance(node, ast.ClassDef | ast.FunctionDef) else set()
    for one in members(tree):
        if isinstance(one, ast.FunctionDef):
            functions.append(one)
        else:
            known |= _given(one)
    return [name for one in functions for name in _unknown(one, known)]


def _given(node: ast.AST) -> set[str]:
    """Names that get a value in `node`, in whatever way."""
    found = set()
    for one in in_order(node):
        match one:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name):
                found.add(name)
            case ast.alias(name=name, asname=asname):
                found.add(asname or name.partition(".")[0])
    return found


def _unknown(function: ast.FunctionDef, known: set[str]) -> list[str]:
    reach = known | _given(function)
    return [
        node.id
        for node in in_order(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in reach
    ]
