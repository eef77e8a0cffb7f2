"""What may stand for a value that goes: something else of the same type.

Types are hints, found where they are written. A wrong one makes a candidate that does not load.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import chain, islice, takewhile
from typing import TypeAlias

from harness.triage.reduce.script import Function, NotPython, Script, called, in_order, parsed

_OTHERS = 3  # names that are tried besides a value's own operands

# By function and name, in one spelling.
Types: TypeAlias = "Mapping[tuple[str, str], str]"


def spelt(annotation: ast.expr) -> str:
    """A type in one spelling: ``R.Tensor((4,), dtype="float32")`` and its shorter form agree."""
    if isinstance(annotation, ast.Call):
        parts = [spelt(one) for one in annotation.args]
        for one in sorted(annotation.keywords, key=lambda one: one.arg != "dtype"):
            placed = one.arg == "dtype" and len(parts) == 1
            parts.append(spelt(one.value) if placed else f"{one.arg}={spelt(one.value)}")
        return f"{ast.unparse(annotation.func)}({', '.join(parts)})"
    return ast.unparse(annotation)


def types_of(text: str) -> dict[tuple[str, str], str]:
    """The types that a module text gives, which is all of them when TVM has printed it."""
    try:
        script = parsed(text)
    except NotPython:
        return {}
    found: dict[tuple[str, str], str] = {}
    for function in script.functions:
        for node in in_order(function.node):
            match node:
                case ast.arg(arg=name, annotation=ast.expr() as annotation):
                    found[function.name, name] = spelt(annotation)
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                    found[function.name, name] = spelt(annotation)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if known := _written_type(script, value):
                        found[function.name, name] = known
    return found


def type_of(script: Script, types: Types, function: Function, value: ast.expr) -> str:
    """The type of an expression, where that is easily told; "" else."""
    if isinstance(value, ast.Name):
        return types.get((function.name, value.id), "")
    return _written_type(script, value)


def _written_type(script: Script, value: ast.expr) -> str:
    """What a call says itself of its result."""
    if not isinstance(value, ast.Call):
        return ""
    if called(value).startswith("R.call_"):
        for one in [*(k.value for k in value.keywords), *value.args]:
            if called(one) in ("R.Tensor", "R.Tuple", "R.Shape"):
                return spelt(one)
    if isinstance(value.func, ast.Attribute):
        callee = script.function(value.func.attr)
        if callee is not None and callee.node.returns is not None:
            return spelt(callee.node.returns)
    return ""


def stand_ins(
    script: Script, types: Types, function: Function, name: str, value: ast.expr
) -> Iterator[ast.expr]:
    """What may stand for `value`, the plainest first.

    Its own operands, parameters and earlier names of its type, zeros. Of a value whose type is
    not known, all its operands.

    Parameters
    ----------
    name : str
        The name that it is bound to; "" for a part of an expression.
    """
    if isinstance(value, ast.Name | ast.Attribute):
        yield value
        return
    wanted = types.get((function.name, name), "") or type_of(script, types, function, value)
    seen = {name}
    for one in in_order(value):
        if isinstance(one, ast.Name | ast.Subscript) and _is_value(one):
            text = ast.unparse(one)
            fits = not wanted or type_of(script, types, function, one) in (wanted, "")
            if fits and text not in seen:
                seen.add(text)
                yield one
    if not wanted:
        return
    others = (one for one in _of_type(types, function, wanted, name) if one not in seen)
    for other in islice(others, _OTHERS):
        yield ast.Name(other, ast.Load())
    zeros = zero(wanted)
    if zeros is not None and ast.unparse(zeros) != ast.unparse(value):
        yield zeros


def _is_value(node: ast.Name | ast.Subscript) -> bool:
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Name)
    return isinstance(node.ctx, ast.Load) and node.id not in ("I", "R", "T", "cls", "Module")


def _of_type(types: Types, function: Function, wanted: str, name: str) -> Iterator[str]:
    """Names of a function with this type that have a value before `name` has one."""
    bound = takewhile(lambda one: one != name, (other for _, other, _ in function.bindings()))
    for one in chain((param.arg for param in function.parameters), bound):
        if types.get((function.name, one)) == wanted:
            yield one


def zero(wanted: str) -> ast.expr | None:
    """A value of a type, made of nothing; None where there is no plain one."""
    return _zero(ast.parse(wanted, mode="eval").body) if wanted else None


def _zero(annotation: ast.expr) -> ast.expr | None:
    match annotation:
        case ast.Call(args=[ast.Tuple() as shape, ast.Constant(value=str() as dtype), *_]):
            dims = ", ".join(ast.unparse(one) for one in shape.elts)
            text = f"R.zeros(R.shape([{dims}]), {dtype!r})"
        case ast.Call(args=[ast.List() as shape]) if called(annotation) == "R.Shape":
            text = f"R.shape({ast.unparse(shape)})"
        case ast.Call(args=parts) if called(annotation) == "R.Tuple":
            made = [_zero(one) for one in parts]
            return None if None in made else ast.Tuple([one for one in made if one], ast.Load())
        case _:
            return None
    return ast.parse(text, mode="eval").body
