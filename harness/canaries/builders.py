"""Modules that TVMScript cannot write. Imports TVM in the child that calls."""

from __future__ import annotations

from typing import Any


def ill_formed() -> Any:
    """A function that returns a variable nobody defined."""
    from tvm import relax

    builder = relax.BlockBuilder()
    tensor = relax.TensorStructInfo if hasattr(relax, "TensorStructInfo") else relax.TensorType
    x = relax.Var("x", tensor((4,), "float32"))
    free = relax.Var("free", tensor((4,), "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(free)
    return builder.get()


def memory_blow_up() -> Any:
    """Allocates until the limit bites."""
    held = []
    while True:
        held.append(bytes(16 << 20))
