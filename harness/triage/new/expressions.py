"""What an expression stands for."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from harness.triage.new import arrays, meaning
from harness.triage.new.course import Course, literal
from harness.triage.new.rewriting import rewritten
from harness.triage.new.values import (
    Array,
    Call,
    Function,
    Name,
    Result,
    Tensor,
    Unbound,
    Unknown,
    Value,
)

_LARGEST: Final = 1 << 64
_LONGEST: Final = 100_000
_SIGNS: Final[dict[type[ast.operator], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}
_OPERATIONS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.Gt: operator.gt,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


def evaluate(course: Course, node: ast.expr) -> Value:
    """The value of `node`; `Unknown` when its syntax does not tell."""
    course.step()
    match node:
        case ast.Constant(value=value):
            known = value is None or isinstance(value, bool | int | float | str)
            return value if known else course.unknown(node)
        case ast.Name():
            value = course.lookup(node)
            return course.unknown(node) if isinstance(value, Unbound) else value
        case ast.Attribute():
            return _attribute(course, node)
        case ast.Call():
            return _call(course, node)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            made = [evaluate(course, one) for one in items]
            if any(isinstance(one, ast.Starred) for one in items):
                return course.unknown(node)
            return tuple(made) if isinstance(node, ast.Tuple) else made
        case ast.Dict(keys=keys, values=values):
            named = [None if one is None else evaluate(course, one) for one in keys]
            given = [evaluate(course, one) for one in values]
            plain = all(isinstance(one, str | int) for one in named)
            return dict(zip(named, given, strict=True)) if plain else course.unknown(node)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            told = truth(evaluate(course, inner))
            return course.unknown(node) if told is None else not told
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
            return _signed(course, node, sign, evaluate(course, inner))
        case ast.BinOp():
            return _binary(course, node)
        case ast.Compare(left=left, ops=[sign], comparators=[right]):
            return _compared(course, node, evaluate(course, left), sign, evaluate(course, right))
        case ast.JoinedStr(values=parts):
            return _joined(course, node, [evaluate(course, one) for one in parts])
        case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
            return evaluate(course, inner)
        case ast.Subscript():
            return _item(course, node)
        case ast.IfExp(test=test, body=body, orelse=other):
            told = truth(evaluate(course, test))
            if told is None:
                return course.unknown(node)
            return evaluate(course, body if told else other)
        case ast.ListComp(elt=element, generators=[ast.comprehension(ifs=[]) as one]):
            return _listed(course, node, element, one)
    if not isinstance(node, ast.Lambda | ast.GeneratorExp):
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                evaluate(course, part)
    return course.unknown(node)


def truth(value: Value) -> bool | None:
    """Whether `value` counts as true; None when that is not known."""
    return bool(value) if literal(value) else None


def _attribute(course: Course, node: ast.Attribute) -> Value:
    value = evaluate(course, node.value)
    match value:
        case Name(path=path):
            constant = {"numpy.nan": math.nan, "numpy.inf": math.inf, "numpy.pi": math.pi}
            whole = f"{path}.{node.attr}"
            return constant.get(whole, math.inf if whole == "math.inf" else Name(whole))
        case Unknown():
            return course.unknown(node)
    return meaning.attribute(course, value, node)


def _call(course: Course, node: ast.Call) -> Value:
    function = evaluate(course, node.func)
    args = [
        evaluate(course, one.value if isinstance(one, ast.Starred) else one) for one in node.args
    ]
    keywords = {one.arg or "**": evaluate(course, one.value) for one in node.keywords}
    starred = any(isinstance(one, ast.Starred) for one in node.args)
    if starred:
        args = _spread(node.args, args)
    if "**" in keywords or any(isinstance(one, _Unspread) for one in args):
        return course.unknown(node)
    if isinstance(function, Function):
        return course.inline(course, function, node, args, keywords)
    return meaning.call(course, node, function, args, keywords)


class _Unspread:
    """Arguments behind a star that are not known one by one."""


def _spread(nodes: Sequence[ast.expr], values: Sequence[Value]) -> list[Value]:
    found: list[Value] = []
    for node, value in zip(nodes, values, strict=True):
        if not isinstance(node, ast.Starred):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += value
        else:
            found.append(_Unspread())
    return found


def _signed(course: Course, node: ast.UnaryOp, sign: ast.unaryop, value: Value) -> Value:
    if isinstance(value, bool | int | float):
        return -value if isinstance(sign, ast.USub) else +value
    if isinstance(value, Array) and isinstance(sign, ast.USub):
        return arrays.computed("neg", [value], {}, rewritten(course, node))
    return course.unknown(node)


def _binary(course: Course, node: ast.BinOp) -> Value:
    left, right = (_held(evaluate(course, one)) for one in (node.left, node.right))
    if isinstance(left, Array) or isinstance(right, Array):
        other = right if isinstance(left, Array) else left
        if isinstance(other, Array | bool | int | float):
            what = _SIGNS.get(type(node.op), "other")
            return arrays.computed(what, [left, right], {}, rewritten(course, node))
        return course.unknown(node)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        same = type(left) is type(right) and isinstance(node.op, ast.Add)
        return left + right if same else course.unknown(node)  # type: ignore[operator]
    operation = _OPERATIONS.get(type(node.op))
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    texts = isinstance(left, str) and isinstance(right, str) and isinstance(node.op, ast.Add)
    if isinstance(node.op, ast.Pow) and numbers and 0 <= right <= 64 and abs(left) <= 1024:
        return left**right
    repeated = isinstance(left, list | tuple | str) and isinstance(node.op, ast.Mult)
    if repeated and type(right) is int and len(left) * right <= _LONGEST:
        return left * right
    if operation is None or not (numbers or texts):
        return course.unknown(node)
    if texts and len(left) + len(right) > _LONGEST:
        return course.unknown(node)
    try:
        found = operation(left, right)
    except (ArithmeticError, ValueError):
        return course.unknown(node)
    fits = not isinstance(found, int) or abs(found) < _LARGEST
    return found if fits else course.unknown(node)


def _held(value: Value) -> Value:
    return value.array if isinstance(value, Tensor) else value


def _compared(course: Course, node: ast.expr, left: Value, sign: ast.cmpop, right: Value) -> Value:
    comparison = _COMPARISONS.get(type(sign))
    if comparison is None or not literal(left) or not literal(right):
        return course.unknown(node)
    try:
        return bool(comparison(left, right))
    except TypeError:
        return course.unknown(node)


def _joined(course: Course, node: ast.expr, parts: Sequence[Value]) -> Value:
    if all(isinstance(one, str | int | float) for one in parts):
        return "".join(map(str, parts))[:_LONGEST]
    return course.unknown(node)


def _item(course: Course, node: ast.Subscript) -> Value:
    value, key = evaluate(course, node.value), None
    if not isinstance(node.slice, ast.Slice):
        key = evaluate(course, node.slice)
    match value:
        case list() | tuple() if type(key) is int and -len(value) <= key < len(value):
            return value[key]
        case dict() if isinstance(key, str | int) and key in value:
            return value[key]
        case Array(leaves=leaves):
            return Array({}, None, rewritten(course, node), leaves)
        case Result(call=Call() as call, item=None, read=False) if type(key) is int and key >= 0:
            return Result(call, key)
        case Unknown():
            return course.unknown(node)
    return meaning.item(course, value, key, node)


def _listed(course: Course, node: ast.expr, element: ast.expr, one: ast.comprehension) -> Value:
    items = evaluate(course, one.iter)
    if not isinstance(items, list | tuple | range) or len(items) > 64:
        return course.unknown(node)
    scope = course.scopes[course.scope].values
    kept = dict(scope)
    found = []
    for item in items:
        course.bind(one.target, item)
        found.append(evaluate(course, element))
    scope.clear()
    scope.update(kept)
    return found
