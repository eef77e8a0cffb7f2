"""Calls to make on the input of a sweep: those of the case, or some made for its parameters."""

from __future__ import annotations

import ast
from textwrap import dedent

from pydantic import TypeAdapter, ValidationError

from harness.case import Arg, Call, Case, ModuleText, NoCheck, RandomArg
from harness.case.vocabulary import DTYPES

TOLERANCE = 1e-2  # passes that change how numbers are computed, or their precision, are no finds
_TENSOR: TypeAdapter[RandomArg] = TypeAdapter(RandomArg)


def calls(case: Case) -> tuple[Call, ...]:
    """What to call; nothing when the parameters are no tensors of a known shape."""
    if case.run:
        return tuple(_plain(call) for call in case.run)
    args = _made(case)
    return () if args is None else (_plain(Call(function="main", args=args)),)


def _plain(call: Call) -> Call:
    return call.model_copy(update={"equals": NoCheck(), "same_as_input": False})


def compared(call: Call) -> Call:
    """The call, its value held against that of the input."""
    return call.model_copy(update={"same_as_input": True, "rtol": TOLERANCE, "atol": TOLERANCE})


def _made(case: Case) -> tuple[Arg, ...] | None:
    """Random tensors for the function `main` of a module text."""
    if not isinstance(case.module, ModuleText):
        return None
    try:
        tree = ast.parse(dedent(case.module.text))
    except SyntaxError:
        return None
    for one in ast.walk(tree):
        if isinstance(one, ast.FunctionDef) and one.name == "main":
            made = [_tensor(each.annotation, seed) for seed, each in enumerate(one.args.args)]
            return None if None in made else tuple(each for each in made if each is not None)
    return None


def _tensor(annotation: ast.expr | None, seed: int) -> RandomArg | None:
    """A tensor for ``R.Tensor((2, 3), "float32")``; None for any other annotation."""
    if not isinstance(annotation, ast.Call) or ast.unparse(annotation.func) != "R.Tensor":
        return None
    given = [*annotation.args, *(one.value for one in annotation.keywords if one.arg == "dtype")]
    try:
        shape, dtype = (ast.literal_eval(one) for one in given)
        found = _TENSOR.validate_python({"random": shape, "dtype": dtype, "seed": seed})
    except (ValueError, TypeError, ValidationError):
        return None
    return found if found.dtype in DTYPES else None
