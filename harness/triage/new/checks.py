"""What a script compares, as `equals:` and `same_as:` have it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from typing import Any

from harness.triage.new.course import literal
from harness.triage.new.rewriting import shown
from harness.triage.new.values import Array, Call, Check, Result, Tensor, Text, Value

_LONGEST = 2000
_ALWAYS = frozenset({"np"})


def checked(
    call: Call, checks: Sequence[Check], text: Text | None
) -> tuple[dict[str, Any], list[str]]:
    """The keys of a call that say what it has to give, and what of that cannot be read."""
    keys: dict[str, Any] = {}
    lost: list[str] = []
    items: dict[int, str] = {}
    names = parameters(text, call.function)
    for check in checks:
        for side, other in (check.sides, check.sides[::-1]):
            match side:
                case Result(call=made, item=item) if made is call:
                    if isinstance(other, Result):
                        keys |= _same_as(call, other)
                        keys |= check.tolerance if "same_as" in keys else {}
                        break
                    said = expression(call, other, names)
                    if said is None:
                        lost.append("it is compared with what cannot be read: see `equals:`")
                    elif item is None:
                        keys |= {"equals": said, **check.tolerance}
                    else:
                        items[item] = said
                        keys |= check.tolerance
                    break
                case Tensor() if side in call.args and names and check.line > call.line:
                    said = expression(call, other, names)
                    if said is not None:
                        written = keys.setdefault("equals", {})
                        written[names[call.args.index(side)]] = said
                        keys |= check.tolerance
                    break
    if items and sorted(items) == list(range(len(items))) and len(items) > 1:
        keys["equals"] = f"({', '.join(items[one] for one in sorted(items))})"
    elif items:
        lost.append("one item of what it returns is compared: `equals:` needs all of them")
    return keys, lost


def _same_as(call: Call, other: Result) -> dict[str, Any]:
    """The same call on the module before the passes."""
    mine, base = call.machine.built.module, other.call.machine.built.module
    same = [_held(one) for one in call.args] == [_held(one) for one in other.call.args]
    before = mine.steps[: len(base.steps)] == base.steps
    if same and before and len(mine.steps) > len(base.steps) == 0:
        return {"same_as": "input"}
    return {}


def _held(value: Value) -> Value:
    return value.array if isinstance(value, Tensor) else value


def expression(call: Call, value: Value, names: Sequence[str]) -> str | None:
    """A value in terms of the parameters of a call, or by itself."""
    if isinstance(value, Tensor):
        value = value.array
    if isinstance(value, Array):
        held = [_held(one) for one in call.args]
        given = {
            next(iter(one.leaves)): name
            for one, name in zip(held, names, strict=False)
            if isinstance(one, Array) and len(one.leaves) == 1 and isinstance(one.node, ast.Name)
        }
        said = _substituted(value, given)
        return said if said is not None and len(said) <= _LONGEST else None
    return shown(value) if literal(value) and value is not None else None


def _substituted(value: Array, given: Mapping[str, str]) -> str | None:
    try:
        node = _Leaves(value, given).visit(copy.deepcopy(value.node))
    except LookupError:
        return None
    return ast.unparse(ast.fix_missing_locations(node))


class _Leaves(ast.NodeTransformer):
    """An expression with parameters, or what they are made of, in place of the names of leaves."""

    def __init__(self, value: Array, given: Mapping[str, str]) -> None:
        self.value = value
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.given:
            return ast.Name(self.given[node.id], ast.Load())
        made = self.value.leaves.get(node.id)
        if made is not None and (made.leaves or made.data is not None):
            found: ast.AST = _Leaves(made, self.given).visit(copy.deepcopy(made.node))
            return found
        if node.id not in _ALWAYS:
            raise LookupError(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr == "random":  # other numbers each time
            raise LookupError(node.attr)
        return self.generic_visit(node)


def parameters(text: Text | None, function: str) -> list[str]:
    """The names of the parameters of a function in TVMScript; of their buffers, where they are."""
    if text is None:
        return []
    try:
        tree = ast.parse(text.text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            matched = {
                call.args[0].id: target.id
                for one in ast.walk(node)
                if isinstance(one, ast.Assign)
                for call, target in [(one.value, one.targets[0])]
                if isinstance(call, ast.Call)
                and getattr(call.func, "attr", "") == "match_buffer"
                and call.args
                and isinstance(call.args[0], ast.Name)
                and isinstance(target, ast.Name)
            }
            return [matched.get(one.arg, one.arg) for one in node.args.args]
    return []


def stand_ins(text: Text | None, function: str) -> list[Any] | None:
    """Random inputs of the shapes that a function declares; None where they are not static."""
    if text is None:
        return None
    try:
        tree = ast.parse(text.text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            found = [_declared(one.annotation) for one in node.args.args]
            return None if any(one is None for one in found) else found
    return None


def _declared(node: ast.expr | None) -> dict[str, Any] | None:
    match node:
        case ast.Call(func=ast.Attribute(attr="Tensor" | "Buffer"), args=args, keywords=keywords):
            given = {one.arg: one.value for one in keywords}
            shape = args[0] if args else given.get("shape")
            dtype = args[1] if len(args) > 1 else given.get("dtype")
            try:
                dims = ast.literal_eval(shape) if shape is not None else None
                kind = ast.literal_eval(dtype) if dtype is not None else "float32"
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                return None
            if isinstance(dims, tuple | list) and all(type(one) is int for one in dims):
                return {"random": list(dims), "dtype": kind}
    return None
