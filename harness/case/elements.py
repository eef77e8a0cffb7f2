"""The elements of a tensor as nested lists: regular, and within what their dtype can hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from harness.case.base import refuse


def nested_shape(data: Any) -> tuple[int, ...]:
    """The shape of nested lists, by the first element of each."""
    shape: list[int] = []
    while isinstance(data, list | tuple):
        shape.append(len(data))
        if not data:
            break
        data = data[0]
    return tuple(shape)


def check_regular(data: Any) -> Any:
    """`data` if it is a number, or lists of numbers that are as long as their neighbours."""
    _check(data, nested_shape(data), ())
    return data


def _check(data: Any, shape: tuple[int, ...], at: tuple[int, ...]) -> None:
    if not shape:
        if not isinstance(data, int | float):
            raise refuse("a number" if at else "a number, or lists of numbers", at=at)
        return
    if not isinstance(data, list | tuple):
        raise refuse(f"a list of {shape[0]}, as the first one beside it", at=at)
    if len(data) != shape[0]:
        got = f"a list of {len(data)}"
        raise refuse(f"a list of {shape[0]}, as the first one beside it", got=got, at=at)
    for index, element in enumerate(data):
        _check(element, shape[1:], (*at, index))


def check_fits(data: Any, dtype: str, at: tuple[str | int, ...]) -> None:
    """Refuse elements that an integer or bool `dtype` cannot hold; a float rounds what it gets."""
    kind = re.fullmatch(r"(u?)int(\d+)|bool", dtype)
    if kind is None:
        return
    low, high = 0, 1
    if bits := int(kind[2] or 0):
        low, high = (0, 2**bits - 1) if kind[1] else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for where, number in _numbers(data, at):
        if not isinstance(number, int) or not low <= number <= high:
            raise refuse(f"a whole number from {low} to {high}, for {dtype}", at=where)


def _numbers(data: Any, at: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(data, list | tuple):
        for index, element in enumerate(data):
            yield from _numbers(element, (*at, index))
    else:
        yield at, data
