"""What the expressions of a script stand for, as far as that can be told without running it.

Numbers, texts, None and lists, tuples and dicts of values stand for themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Value = Any


@dataclass(frozen=True, slots=True)
class Name:
    """Something that an import gives: a function, a class, a module."""

    path: str


@dataclass(frozen=True, slots=True)
class Made:
    """What calling a name under ``tvm`` gives: a pass, a target, an object for a pass."""

    path: str
    args: tuple[Value, ...]
    keywords: Mapping[str, Value]
    origin: Unknown


@dataclass(frozen=True, slots=True)
class Passes:
    """``tvm.transform.Sequential``."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Unknown:
    """What is not understood: an expression, by where it stands in the script's course.

    `at` is the number of statements in front of it, `scope` that of the call it stands in.
    """

    node: ast.expr
    at: int
    scope: int
    line: int


@dataclass(frozen=True, slots=True)
class Unbound:
    """A name that nothing in the report defines."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Text:
    """A module, or a function of one, as TVMScript; `name` is what the script calls it.

    `lacking` are the names that it takes from the script and that are no plain values.
    """

    text: str
    name: str
    line: int
    function: bool = False
    lacking: tuple[Unbound | Unknown, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A pass as it was applied: in the words of a case, or as statements for a file beside it.

    `beside` is an expression for the module behind it, or a statement that changes or checks the
    one called `name`; it stands behind `at` entries of the log.
    """

    form: Any
    line: int
    beside: Unknown | ast.stmt | None = None
    name: str = ""
    at: int = 0
    scope: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """An IRModule: where it comes from, and the passes it went through."""

    origin: Text | Unknown
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """What building a module gave; `keys` are those of ``build:``."""

    module: Module
    keys: Mapping[str, Any]
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """A virtual machine, or a built module of PrimFuncs: what functions are taken from."""

    built: Built
    inputs: dict[str, tuple[Value, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Callee:
    machine: Machine
    function: str


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call of a built function."""

    machine: Machine
    function: str
    args: tuple[Value, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Result:
    """What a call returned, or an item of it; `read` once it is an array of NumPy."""

    call: Call
    item: int | None = None
    read: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """A NumPy array.

    Attributes
    ----------
    spec : dict
        As an argument of a case; empty when a case cannot say it.
    data : ndarray or None
        Its elements, where they are known.
    node : expr
        What it is made of, over the names in `leaves`.
    leaves : mapping
    """

    spec: dict[str, Any]
    data: np.ndarray[Any, Any] | None
    node: ast.expr
    leaves: Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A TVM tensor made of an array; two of the same array are two tensors."""

    array: Array


@dataclass(frozen=True, slots=True)
class Printed:
    """A module as text; `form` as in `after: [{roundtrip: …}]`."""

    module: Module
    form: str


@dataclass(frozen=True, slots=True)
class Shape:
    dims: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """An attribute of a value: what a method call is made on."""

    value: Value
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of the script, and the scope it was defined in."""

    node: ast.FunctionDef
    scope: int


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that the script has TVM do: `stage` as in a case, on `module`."""

    stage: str
    line: int
    module: Module
    at: str = ""
    built: Built | None = None
    call: Call | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A comparison of numbers: two sides, and tolerances where they are given."""

    sides: tuple[Value, Value]
    tolerance: Mapping[str, float]
    line: int
