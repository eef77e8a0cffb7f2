"""Modules that TVMScript cannot write."""

from tvm import IRModule, relax


def ill_formed() -> IRModule:
    """A function that returns a variable nobody defined."""
    builder = relax.BlockBuilder()
    tensor = relax.TensorStructInfo if hasattr(relax, "TensorStructInfo") else relax.TensorType
    x = relax.Var("x", tensor((4,), "float32"))
    free = relax.Var("free", tensor((4,), "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(free)
    return builder.get()


def memory_blow_up() -> IRModule:
    """Allocates until the limit bites."""
    held = []
    while True:
        held.append(bytes(16 << 20))
