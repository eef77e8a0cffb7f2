"""NumPy without running the script: arrays that a case can say, and what is computed of them."""

from __future__ import annotations

import ast
import itertools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from harness.case.vocabulary import DTYPES
from harness.triage.new.values import Array, Name, Tensor, Value

MOST = 1 << 16  # elements that are computed here
MOST_WRITTEN = 1024  # elements that are written out, one by one
_numbers = itertools.count()
_MADE: Final = frozenset(
    "array asarray ascontiguousarray ones zeros empty full arange linspace eye ones_like "
    "zeros_like empty_like full_like reshape transpose expand_dims squeeze concatenate stack "
    "broadcast_to clip where maximum minimum flip".split()
)
_METHODS: Final = frozenset("astype reshape transpose flatten ravel copy T squeeze".split())
_RANDOM: Final = {
    # How the shape is given: as arguments of their own, or under these names and places.
    "rand": None,
    "randn": None,
    "random": 0,
    "random_sample": 0,
    "standard_normal": 0,
    "uniform": 2,
    "normal": 2,
    "randint": 2,
    "integers": 2,
}


def is_random(path: str) -> bool:
    """Whether a dotted name is one of NumPy's functions for random numbers."""
    head, _, last = path.rpartition(".")
    return head == "numpy.random" and last in _RANDOM


def leaf(data: np.ndarray[Any, Any] | None, spec: dict[str, Any], made: ast.expr) -> Array:
    """An array with a name of its own, so that what is made of it can speak of it."""
    name = f"_leaf{next(_numbers)}"
    array = Array(spec, data, made, {})
    return Array(spec, data, ast.Name(name, ast.Load()), {name: array})


def named(array: Array) -> Array:
    """`array` under a name of its own, as a variable gives it one, or a tensor."""
    if isinstance(array.node, ast.Name):
        return array
    name = f"_leaf{next(_numbers)}"
    return Array(array.spec, array.data, ast.Name(name, ast.Load()), {name: array})


def known(data: np.ndarray[Any, Any], made: ast.expr) -> Array:
    """An array of known elements."""
    return leaf(data, spec_of(data), made)


def random(path: str, args: Sequence[Value], keywords: Mapping[str, Value], made: ast.expr) -> Any:
    """An array of random numbers: a case has its own, from a seed. None when it has no shape."""
    last = path.rpartition(".")[2]
    place = _RANDOM[last]
    given = list(args) if place is None else list(args[place : place + 1])
    if place is not None:
        size = keywords.get("size", given[0] if given else ())
        given = list(size) if isinstance(size, list | tuple) else [size]
    if not all(type(one) is int and 0 <= one < 2**31 for one in given):
        return None
    drawn = "int64" if last in ("randint", "integers") else "float64"
    dtype = dtype_of(keywords["dtype"]) if "dtype" in keywords else drawn
    if dtype is None:
        return None
    return leaf(None, {"random": given, "dtype": dtype}, made)


def dtype_of(value: Value) -> str | None:
    """The name of an element type, as a script gives it."""
    match value:
        case Name(path=path):
            name = path.rpartition(".")[2].rstrip("_")
        case str() | np.dtype():
            name = str(value)
        case _:
            return None
    name = {"float": "float64", "int": "int64", "double": "float64", "half": "float16"}.get(
        name, name
    )
    return name if name in DTYPES else None


def spec_of(data: np.ndarray[Any, Any]) -> dict[str, Any]:
    """A known array as an argument of a case; empty when there is no way to say it."""
    dtype = data.dtype.name
    if dtype not in DTYPES:
        return {}
    shape = list(data.shape)
    flat = data.ravel()
    if not data.size:
        return {"full": 0, "shape": shape, "dtype": dtype}
    plain = flat[:1].tolist()[0]
    if not isinstance(plain, bool | int | float):
        plain = float(plain)
    same = bool((flat == flat[0]).all()) or (plain != plain and bool(np.isnan(flat).all()))
    if same:
        return {"full": plain, "shape": shape, "dtype": dtype}
    counted = np.arange(data.size).astype(data.dtype)
    if data.size > 2 and data.dtype.kind != "b" and bool((flat == counted).all()):
        return {"arange": data.size, "dtype": dtype} | ({"shape": shape} if len(shape) > 1 else {})
    if data.size > MOST_WRITTEN:
        return {}
    values = data.tolist() if data.dtype.kind in "biuf" else data.astype("float64").tolist()
    return {"tensor": values, "dtype": dtype}


def computed(
    what: str, args: Sequence[Value], keywords: Mapping[str, Value], made: ast.expr
) -> Any:
    """A function of NumPy, or a method of an array (`.name`, itself first), on known values.

    Gives an `Array`, a plain number, or None when it cannot be told here.
    """
    given, arrays = [_plain(one) for one in args], _arrays([*args, *keywords.values()])
    named = {name: _plain(one) for name, one in keywords.items()}
    whole = all(array.data is not None for array in arrays)
    derived = what.startswith(".") or bool(arrays)
    data = None
    if whole and _is_allowed(what) and not _is_large(what, given, named):
        data = _evaluate(what, given, named)
    if isinstance(data, np.ndarray) and not derived:
        return known(data, made)
    if isinstance(data, bool | int | float) and not derived:
        return data
    if not derived:
        return None
    leaves = {name: one for array in arrays for name, one in array.leaves.items()}
    if isinstance(data, np.ndarray):
        return Array(spec_of(data), data, made, leaves)
    return Array(_respun(what, args, given[1:], named), None, made, leaves)


def _respun(
    what: str, args: Sequence[Value], given: Sequence[Value], named: Mapping[str, Value]
) -> dict[str, Any]:
    """Random numbers in another type or shape, or shifted, are still random numbers."""
    first = next((one for one in args if isinstance(one, Array | Tensor)), None)
    array = first.array if isinstance(first, Tensor) else first
    if array is None or "random" not in array.spec:
        return {}
    spec = dict(array.spec)
    if what == ".astype":
        dtype = dtype_of(named.get("dtype", given[0] if given else None))
        return spec | {"dtype": dtype} if dtype else {}
    if what == ".reshape":
        dims = given[0] if len(given) == 1 and isinstance(given[0], list | tuple) else given
        fits = all(type(one) is int and one >= 0 for one in dims)
        return spec | {"random": list(dims)} if fits and _same_size(dims, spec["random"]) else {}
    others = [one for one in args if not isinstance(one, Array | Tensor)]
    elementwise = what in (".copy", "ascontiguousarray") or (
        what in _OPERATORS and all(isinstance(one, int | float) for one in others)
    )
    return spec if elementwise and len(others) == len(args) - 1 else {}


def _same_size(one: Sequence[int], other: Sequence[int]) -> bool:
    return math.prod(one) == math.prod(other)


def _plain(value: Value) -> Value:
    match value:
        case Array(data=data):
            return data
        case Tensor(array=array):
            return array.data
        case Name():
            return _dtype(dtype_of(value) or "") or value
        case list() | tuple():
            return type(value)(map(_plain, value))
        case str():
            return _dtype(value) or value
    return value


def _dtype(name: str) -> Any:
    if name not in DTYPES:
        return None
    try:
        return np.dtype(getattr(ml_dtypes, name, name))
    except TypeError:  # this ml_dtypes does not have it
        return None


def _arrays(values: Sequence[Value]) -> list[Array]:
    found = []
    for one in values:
        match one:
            case Array():
                found.append(one)
            case Tensor(array=array):
                found.append(array)
            case list() | tuple():
                found += _arrays(one)
    return found


_OPERATORS: Final[dict[str, Callable[..., Any]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.true_divide,
    "neg": np.negative,
}


def _is_allowed(what: str) -> bool:
    if what.startswith("."):
        return what[1:] in _METHODS
    if what in _MADE or what in _OPERATORS or dtype_of(what.rstrip("_")) is not None:
        return True
    function = getattr(np, what, None) if what.isidentifier() else None
    return isinstance(function, np.ufunc) and function.signature is None


def _is_large(what: str, given: Sequence[Value], named: Mapping[str, Value]) -> bool:
    """Whether the result could have more than `MOST` elements, or that cannot be told."""
    arrays = [one for one in [*given, *named.values()] if isinstance(one, np.ndarray)]
    if any(array.size > MOST for array in arrays):
        return True
    first = given[0] if given else None
    match what:
        case "ones" | "zeros" | "empty" | "full":
            return _product(first if given else named.get("shape")) > MOST
        case "broadcast_to" if len(given) > 1:
            return _product(given[1]) > MOST
        case "arange" | "linspace" | "eye":
            return not all(_is_small(one) for one in [*given, *named.values()])
        case "array" | "asarray" | "ascontiguousarray" | "concatenate" | "stack":
            return _count(given) > MOST
    try:
        return math.prod(np.broadcast_shapes(*(array.shape for array in arrays))) > MOST
    except ValueError:
        return False


def _product(dims: Value) -> int:
    dims = dims if isinstance(dims, list | tuple) else [dims]
    if not all(type(one) is int and 0 <= one < 2**31 for one in dims):
        return MOST + 1
    return math.prod(dims)


def _is_small(one: Value) -> bool:
    """Whether a bound, a step or a count cannot ask for many elements."""
    if isinstance(one, int | float) and not isinstance(one, bool):
        return abs(one) <= 200 and (one == 0 or abs(one) >= 0.01)
    return isinstance(one, str | np.dtype | bool) or one is None


def _count(values: Sequence[Value]) -> int:
    sizes = (one.size if isinstance(one, np.ndarray) else 1 for one in values)
    nested = (_count(one) if isinstance(one, list | tuple) else 0 for one in values)
    return sum(sizes) + sum(nested)


def _evaluate(what: str, given: Sequence[Value], named: Mapping[str, Value]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if what == ".T":
                return given[0].T
            if what.startswith("."):
                return np.asarray(getattr(given[0], what[1:])(*given[1:], **named))
            function = _OPERATORS.get(what) or getattr(np, what)
            if what == "empty":
                function = np.zeros
            elif what == "empty_like":
                function = np.zeros_like
            found = function(*given, **named)
        except Exception:  # whatever NumPy says to a script that is wrong
            return None
    is_plain = isinstance(found, np.generic | np.ndarray)
    return np.asarray(found) if is_plain and np.asarray(found).dtype.kind in "biufV" else None
