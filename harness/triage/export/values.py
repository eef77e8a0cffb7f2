"""The values of a case as Python text that makes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from harness.case import (
    ArangeArg,
    Arg,
    FullArg,
    New,
    NumberArg,
    RandomArg,
    ResultOf,
    ShapeArg,
    TensorArg,
    TupleArg,
)

Tensor = TensorArg | FullArg | ArangeArg | RandomArg


def array(spec: Tensor) -> str:
    """A NumPy array, as the harness makes it."""
    dtype = literal(spec.dtype)
    match spec:
        case TensorArg(data=data, shape=shape):
            made = f"np.array({literal(data)}, dtype={dtype})"
            return made if _shape_of(data) == shape else f"{made}.reshape({shape})"
        case FullArg(value=value, shape=shape):
            return f"np.full({shape}, {literal(value)}, dtype={dtype})"
        case ArangeArg(n=n, shape=shape):
            made = f"np.arange({n}).astype({dtype})"
            return made if shape == (n,) else f"{made}.reshape({shape})"
        case RandomArg(shape=shape, seed=seed):
            return f"{_random(spec, seed)}.astype({dtype})"


def _random(spec: RandomArg, seed: int) -> str:
    generator = f"np.random.default_rng({seed})"
    if spec.dtype == "bool":
        return f"{generator}.integers(0, 2, {spec.shape})"
    if spec.dtype.lstrip("u").startswith("int"):
        return f"{generator}.integers(0, 100, {spec.shape})"
    return f"{generator}.standard_normal({spec.shape})"


def _shape_of(data: Any) -> tuple[int, ...]:
    return (len(data), *_shape_of(data[0] if data else 0)) if isinstance(data, list) else ()


def value(arg: Arg) -> str:
    """An argument before it becomes one of TVM's: an array, a number, a shape, a tuple of these.

    What an earlier call returned is ``result0``, ``result1`` and so on.
    """
    match arg:
        case NumberArg(value=number):
            return literal(number)
        case ShapeArg(dims=dims):
            return f"tvm_ffi.Shape({dims})"
        case TupleArg(items=items):
            return f"({', '.join(map(value, items))}{',' if len(items) == 1 else ''})"
        case ResultOf(call=call, item=item):
            return f"handed_on(result{call}{'' if item is None else f'[{item}]'})"
    return array(arg)


def literal(plain: Any) -> str:
    """Plain data; infinities and NaN have no literal of their own."""
    if isinstance(plain, float) and not math.isfinite(plain):
        return "np.nan" if math.isnan(plain) else "np.inf" if plain > 0 else "-np.inf"
    if isinstance(plain, Mapping):
        return f"{{{', '.join(f'{literal(key)}: {literal(one)}' for key, one in plain.items())}}}"
    if isinstance(plain, list | tuple):
        return f"[{', '.join(map(literal, plain))}]"
    shown = repr(plain)
    if isinstance(plain, str) and not set(shown) & set('"\\'):
        return f'"{plain}"'
    return shown


def argument(given: Any) -> str:
    """An argument of a pass."""
    match given:
        case New():
            return called(f"tvm.{given.name}", given.args)
        case TensorArg() | FullArg() | ArangeArg() | RandomArg():
            return f"tvm.runtime.tensor({array(given)})"
        case Mapping():
            return (
                f"{{{', '.join(f'{literal(key)}: {argument(one)}' for key, one in given.items())}}}"
            )
        case list() | tuple():
            return f"[{', '.join(map(argument, given))}]"
    return literal(given)


def called(function: str, args: Mapping[str, Any] | tuple[Any, ...], *first: str) -> str:
    """A call with the arguments that a case gives, behind those in `first`."""
    if isinstance(args, Mapping):
        given = [f"{name}={argument(one)}" for name, one in args.items()]
    else:
        given = [argument(one) for one in args]
    return f"{function}({', '.join([*first, *given])})"


def needs_ml_dtypes(text: str) -> bool:
    """Whether code names an element type that NumPy has from ml_dtypes only."""
    return any(mark in text for mark in ('"bfloat16"', '"float8_', '"float4_', '"float6_', 'int4"'))
