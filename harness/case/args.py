"""The values a case passes to a function: what `run:` and pass arguments are made of."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Union

from pydantic import AfterValidator, BeforeValidator, Field, Tag, model_validator
from typing_extensions import Self

from harness.case.base import TAG, Model, refuse, tell_apart
from harness.case.elements import check_fits, check_regular, nested_shape
from harness.case.vocabulary import Dim, DType, Int, Number, Shape, number

DTYPE = Field(default="float32", description="Element type, float32 by default.")


class TensorArg(Model):
    """`{tensor: [[1, 2], [3, 4]], dtype: float32}`: the elements, as nested lists.

    With `shape` the elements are given that shape, in row-major order; without, it is that of
    the lists.
    """

    key: ClassVar[str] = "tensor"

    data: Annotated[Any, AfterValidator(check_regular)] = Field(validation_alias="tensor")
    dtype: DType = DTYPE
    shape: Shape = Field(default_factory=lambda given: nested_shape(given.get("data")))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        check_fits(self.data, self.dtype, ("tensor",))
        _check_size(self.shape, math.prod(nested_shape(self.data)))
        return self


class FullArg(Model):
    """`{full: 1.5, shape: [2, 3], dtype: float32}`: one value everywhere."""

    key: ClassVar[str] = "full"

    value: Number = Field(validation_alias="full")
    shape: Shape
    dtype: DType = DTYPE

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        check_fits(self.value, self.dtype, ("full",))
        return self


class ArangeArg(Model):
    """`{arange: 6, dtype: float32, shape: [2, 3]}`: 0, 1, 2, ...; one dimension by default."""

    key: ClassVar[str] = "arange"

    n: Dim = Field(validation_alias="arange")
    dtype: DType = DTYPE
    shape: Shape = Field(default_factory=lambda given: (given.get("n", 0),))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        _check_size(self.shape, self.n)
        return self


class RandomArg(Model):
    """`{random: [2, 3], dtype: float32, seed: 0}`: the same numbers for the same seed."""

    key: ClassVar[str] = "random"

    shape: Shape = Field(validation_alias="random")
    dtype: DType = DTYPE
    seed: Dim = 0


class ShapeArg(Model):
    """`{shape: [2, 3]}`: a shape, as a value."""

    key: ClassVar[str] = "shape"

    dims: Shape = Field(validation_alias="shape")


class TupleArg(Model):
    """`{tuple: [...]}`: a tuple of arguments."""

    key: ClassVar[str] = "tuple"

    items: tuple[Arg, ...] = Field(validation_alias="tuple")


class NumberArg(Model):
    """`3`, `0.5` or `true`."""

    key: ClassVar[str] = "scalar"

    value: Number


class ResultOf(Model):
    """`{result_of: 0, item: 1}`: what an earlier call returned, or one field of it."""

    key: ClassVar[str] = "result_of"

    call: Dim = Field(validation_alias="result_of")
    item: Int | None = Field(default=None, ge=0)


def _check_size(shape: tuple[int, ...], elements: int) -> None:
    if (have := math.prod(shape)) != elements:
        got = f"{list(shape)}, which has {have if have < 2**63 else 'more than any memory holds'}"
        raise refuse(f"a shape of {elements} elements", got=got, at=("shape",))


def _wrap_number(value: object) -> object:
    return value if isinstance(value, NumberArg) else NumberArg.model_construct(value=number(value))


TENSOR_KEYS = ("tensor", "full", "arange", "random")
# Of `full` and `shape`, the one that comes first here names the argument.
ARG_KEYS = (*TENSOR_KEYS, "tuple", "result_of", "shape")

Tensor = Annotated[TensorArg, Tag(TAG + "tensor")]
Full = Annotated[FullArg, Tag(TAG + "full")]
Arange = Annotated[ArangeArg, Tag(TAG + "arange")]
Random = Annotated[RandomArg, Tag(TAG + "random")]

TensorSpec = Union[Tensor, Full, Arange, Random]  # noqa: UP007
Arg = Annotated[
    TensorSpec
    | Annotated[ShapeArg, Tag(TAG + "shape")]
    | Annotated[TupleArg, Tag(TAG + "tuple")]
    | Annotated[ResultOf, Tag(TAG + "result_of")]
    | Annotated[
        NumberArg,
        BeforeValidator(_wrap_number, json_schema_input_type=bool | int | float),
        Tag(TAG + "scalar"),
    ],
    tell_apart(
        "a number, or a mapping with one of " + ", ".join(f"`{key}`" for key in ARG_KEYS),
        ARG_KEYS,
    ),
]
