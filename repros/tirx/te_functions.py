"""PrimFuncs from tensor expressions, for cases about `te.create_prim_func`."""

import tvm
from tvm import te


def _doubled_and_squared() -> tuple:
    x = te.placeholder((4,), name="x")
    doubled = te.compute((4,), lambda i: x[i] * 2, name="doubled")
    squared = te.compute((4,), lambda i: x[i] * x[i], name="squared")
    return x, doubled, squared


def nested() -> tvm.IRModule:
    """The two results come as one list."""
    x, doubled, squared = _doubled_and_squared()
    return tvm.IRModule({"main": te.create_prim_func([x, [doubled, squared]])})


def nested_single() -> tvm.IRModule:
    """One result, in a list of its own."""
    x, doubled, _ = _doubled_and_squared()
    return tvm.IRModule({"main": te.create_prim_func([x, [doubled]])})


def flat() -> tvm.IRModule:
    """The results stand beside the argument."""
    x, doubled, squared = _doubled_and_squared()
    return tvm.IRModule({"main": te.create_prim_func([x, doubled, squared])})


def number() -> tvm.IRModule:
    """What cannot be an argument at all."""
    x, doubled, _ = _doubled_and_squared()
    return tvm.IRModule({"main": te.create_prim_func([x, doubled, 3])})
