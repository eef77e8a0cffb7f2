"""What is inside statements: arguments, attributes, annotations, operands."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from harness.triage.reduce.edit import Edit
from harness.triage.reduce.moves.base import Slot
from harness.triage.reduce.program import Program
from harness.triage.reduce.script import Function, is_dataflow, is_output, parsed
from harness.triage.reduce.script import in_order as below
from harness.triage.reduce.values import Types, stand_ins


def trims(program: Program, types: Types) -> list[Slot]:
    """Leave out a keyword, an entry of a dictionary, an element of a list or a tuple."""
    slots: list[Slot] = []
    for node in below(parsed(program.module).tree):
        match node:
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                slots += [(Edit({key: None, value: None}),) for key, value in pairs if key]
            case ast.Call(keywords=keywords):
                slots += [(Edit({one: None}),) for one in keywords]
                if is_output(node):
                    slots += [(Edit({one: None}),) for one in node.args]
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                slots += [(Edit({one: None}),) for one in elements]
    return slots[::-1]


def type_notes(program: Program, types: Types) -> list[Slot]:
    """Leave out what the parser finds out for itself: types of names and results."""
    slots: list[Slot] = []
    for node in below(parsed(program.module).tree):
        match node:
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                plain = ast.Assign([target], value, lineno=0)
                slots.append((Edit({node: plain}),))
            case ast.FunctionDef(returns=ast.expr() as returns):
                slots.append((Edit({returns: None}),))
    return slots


def relax_operands(program: Program, types: Types) -> list[Slot]:
    """Put an operand, or something else of the type, in the place of an expression."""
    return _operands(program, types, "relax")


def kernel_operands(program: Program, types: Types) -> list[Slot]:
    return _operands(program, types, "kernel")


def _operands(program: Program, types: Types, kind: str) -> list[Slot]:
    script = parsed(program.module)
    slots: list[Slot] = []
    for function in script.functions:
        if function.kind == kind:
            for node in _expressions(function):
                ways = _parts(node)
                if kind == "relax" and isinstance(node, ast.Call):
                    ways += stand_ins(script, types, function, "", node)
                distinct = {ast.unparse(way): way for way in ways}
                distinct.pop(ast.unparse(node), None)
                if distinct:
                    slots.append(tuple(Edit({node: way}) for way in distinct.values()))
    return slots


def _expressions(function: Function) -> Iterator[ast.expr]:
    """Values in a function, without types, decorators and what dataflow blocks put out."""
    waiting: list[ast.AST] = [*reversed(function.node.body)]
    while waiting:
        node = waiting.pop()
        if is_output(node) or is_dataflow_opening(node):
            continue
        if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), ast.Store):
            yield node
        skipped = getattr(node, "annotation", None)
        children = [child for child in ast.iter_child_nodes(node) if child is not skipped]
        waiting += children[::-1]


def is_dataflow_opening(node: ast.AST) -> bool:
    return isinstance(node, ast.withitem) and is_dataflow(ast.With([node], []))


def _parts(node: ast.expr) -> list[ast.expr]:
    """The values that an expression is made of."""
    match node:
        case ast.Call(args=args):
            inner = [one.elts if isinstance(one, ast.Tuple | ast.List) else [one] for one in args]
            return [one for group in inner for one in group]
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.BoolOp(values=values):
            return list(values)
        case ast.Compare(left=left, comparators=comparators):
            return [left, *comparators]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.Subscript(value=value):
            return [value]
    return []


def inlined(program: Program, types: Types) -> list[Slot]:
    """Put a value where the one use of its name is."""
    slots: list[Slot] = []
    for function in parsed(program.module).functions:
        for statement, name, value in function.bindings():
            edit = Edit({statement: None}, {(function.node, name): value})
            slots.append((edit,))
    return slots[::-1]
