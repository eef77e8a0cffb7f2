"""The values a case passes to a function: what `run:` and pass arguments are made of."""

from __future__ import annotations

from typing import Any, Union

from pydantic import Field

from harness.case.base import Dim, DType, Int, Model, Shape


class TensorArg(Model):
    """``{tensor: [[1, 2], [3, 4]], dtype: float32}``: the elements, as nested lists."""

    data: Any = Field(alias="tensor")
    dtype: DType = "float32"


class FullArg(Model):
    """``{full: 1.5, shape: [2, 3], dtype: float32}``: one value everywhere."""

    value: float | int | bool = Field(alias="full")
    shape: Shape
    dtype: DType = "float32"


class ArangeArg(Model):
    """``{arange: 6, dtype: float32, shape: [2, 3]}``: 0, 1, 2, ...; one dimension by default."""

    n: Dim = Field(alias="arange")
    dtype: DType = "float32"
    shape: Shape = Field(default_factory=lambda data: (data["n"],))


class RandomArg(Model):
    """``{random: [2, 3], dtype: float32, seed: 0}``: the same numbers for the same seed."""

    shape: Shape = Field(alias="random")
    dtype: DType = "float32"
    seed: Dim = 0


class ShapeArg(Model):
    """``{shape: [2, 3]}``: a shape, as a value."""

    dims: Shape = Field(alias="shape")


class TupleArg(Model):
    """``{tuple: [...]}``: a tuple of arguments."""

    items: tuple[Arg, ...] = Field(alias="tuple")


class NumberArg(Model):
    """``3``, ``0.5`` or ``true``."""

    value: bool | int | float


class ResultOf(Model):
    """``{result_of: 0, item: 1}``: what an earlier call returned, or one field of it."""

    call: Dim = Field(alias="result_of")
    item: Int | None = None


TensorSpec = Union[TensorArg, FullArg, ArangeArg, RandomArg]  # noqa: UP007
Arg = Union[  # noqa: UP007
    TensorArg, FullArg, ArangeArg, RandomArg, ShapeArg, TupleArg, NumberArg, ResultOf
]

TupleArg.model_rebuild()
