"""Modules with a sum that is small as a graph and huge as a tree."""

import tvm

SOURCE = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(out: T.Buffer((1,), "int32"), k: T.int32):
        out[0] = k
"""


def stored(levels: int) -> tvm.IRModule:
    """`out[0] = k * 2**levels`."""
    main = tvm.script.from_source(SOURCE)["main"]
    store = tvm.tirx.BufferStore(main.body.buffer, _doubled(main, levels), main.body.indices)
    return tvm.IRModule({"main": main.with_body(store)})


def attached(levels: int) -> tvm.IRModule:
    """`out[0] = k`, and an attribute of the function that says `k * 2**levels`."""
    main = tvm.script.from_source(SOURCE)["main"]
    return tvm.IRModule({"main": main.with_attr("total", _doubled(main, levels))})


def _doubled(main: "tvm.tirx.PrimFunc", levels: int) -> "tvm.tirx.Add":
    """`levels` sums, the two operands of each being one object."""
    total = main.params[1]
    for _ in range(levels):
        total = tvm.tirx.Add(total, total)
    return total
