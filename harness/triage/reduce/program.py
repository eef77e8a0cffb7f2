"""A candidate: the text of a module, and what is done with it."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from harness.triage.reduce.script import parsed

Data: TypeAlias = "dict[str, Any]"
Path: TypeAlias = "tuple[str | int, ...]"
Weight: TypeAlias = "tuple[int, int, int, int]"

# Keys of a case that decide what happens in a run of it, besides the module.
KEYS = ("passes", "build", "run", "after")


@dataclass(frozen=True, slots=True)
class Program:
    """A case without what is only there for its reader.

    Attributes
    ----------
    module : str
        TVMScript; "" when the module comes from a builder, which stands in `data` then.
    data : dict
        The other keys, as in the file. Never changed in place.
    """

    module: str
    data: Data

    @property
    def key(self) -> str:
        """What two candidates that are the same have in common."""
        return f"{json.dumps(self.data, sort_keys=True)}\n{self.module}"

    @property
    def keys(self) -> Data:
        """The keys of a case file that say this."""
        return {"module": self.module, **self.data} if self.module else dict(self.data)


@dataclass(frozen=True, slots=True)
class Size:
    """How large a candidate is, in what a reader counts."""

    functions: int
    bindings: int
    passes: int
    characters: int

    def __str__(self) -> str:
        return (
            f"{_count(self.functions, 'function')}, {_count(self.bindings, 'binding')}, "
            f"{_count(self.passes, 'pass')}, {self.characters} characters"
        )


def _count(number: int, noun: str) -> str:
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def size(program: Program) -> Size:
    """Bindings are the statements that give a name to something, in Relax functions."""
    functions = parsed(program.module).functions
    bindings = sum(
        not isinstance(value, ast.Name)
        for function in functions
        if function.kind == "relax"
        for _, _, value in function.bindings()
    )
    passes = len(program.data.get("passes", ()))
    return Size(len(functions), bindings, passes, len(program.module))


def weight(program: Program) -> Weight:
    """What reducing lowers: parts, then details, then numbers, then characters.

    Every step has to lower it, so that there is an end.
    """
    parts = details = numbers = 0
    for node in ast.walk(parsed(program.module).tree):
        details += 1
        parts += isinstance(node, ast.stmt | ast.arg)
        if isinstance(node, ast.Constant):
            numbers += _cost(node.value)
    for path, value in leaves(program.data):
        details += 1
        parts += len(path) == 2 and path[0] != "build"
        numbers += _cost(value)
    return parts, details, numbers, len(program.key)


def leaves(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Everything in plain data with its path: collections, and what they hold."""
    if path:
        yield path, data
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from leaves(value, (*path, index))


def _cost(value: object) -> int:
    """How far a constant is from the plainest of its kind."""
    match value:
        case bool() | None:
            return 0
        case int():
            return value.bit_length() + (value > 1)
        case float():
            return len(repr(value))
        case str():
            return 0 if value == "float32" else 1
    return 1
