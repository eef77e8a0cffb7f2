"""Passes, calls, checks and build options: what a case says beside the module."""

from __future__ import annotations

from typing import Any

from harness.triage.reduce.edit import GONE, Edit
from harness.triage.reduce.moves.base import Slot
from harness.triage.reduce.program import Path, Program, leaves
from harness.triage.reduce.values import Types

_DETAILS = frozenset({"args", "call", "tensor", "full", "arange", "random", "shape", "tuple"})


def entries(program: Program, types: Types) -> list[Slot]:
    """Leave out a pass, a call, or a check on the text; the last first."""
    found = [
        (key, index)
        for key in ("passes", "run", "after")
        for index in range(len(program.data.get(key, ())))
    ]
    return [(Edit(data={path: GONE}),) for path in reversed(found)]


def details(program: Program, types: Types) -> list[Slot]:
    """Leave out a key inside: an argument of a pass, a build option, what a call is held against.

    A pass that has lost all its arguments is written as its name.
    """
    slots: list[Slot] = []
    for path, value in leaves(program.data):
        if path[0] == "passes" and len(path) == 2 and isinstance(value, dict):
            slots += [(Edit(data={path: name}),) for name in value if name != "python"]
        elif isinstance(path[-1], str) and len(path) > 1 and path[-1] not in _DETAILS:
            if not (path[0] == "passes" and len(path) == 3):
                slots.append((Edit(data={path: GONE}),))
    return slots


def plainer_arguments(program: Program, types: Types) -> list[Slot]:
    """Say an argument of a call in fewer words: all elements alike, or counted up."""
    slots: list[Slot] = []
    for path, value in leaves({"run": program.data.get("run", [])}):
        if isinstance(value, dict) and ("tensor" in value or "random" in value):
            slots.append(tuple(Edit(data={path: one}) for one in _plainer(value)))
    return slots


def _plainer(argument: dict[str, Any]) -> list[dict[str, Any]]:
    shape = argument["random"] if "random" in argument else shape_of(argument)
    dtype = {"dtype": argument["dtype"]} if "dtype" in argument else {}
    return [{"full": value, "shape": shape, **dtype} for value in (0, 1)]


def shape_of(argument: dict[str, Any]) -> list[int]:
    """The shape of a `tensor:` argument."""
    if "shape" in argument:
        return list(argument["shape"])
    shape, data = [], argument["tensor"]
    while isinstance(data, list):
        shape.append(len(data))
        data = data[0] if data else 0
    return shape


def calls_of(program: Program, function: str) -> list[Path]:
    """Paths of the calls of one function under `run:`."""
    return [
        ("run", index)
        for index, call in enumerate(program.data.get("run", ()))
        if call.get("call") == function
    ]
