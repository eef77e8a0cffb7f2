"""A PrimFunc with conditional expressions nested in one another's conditions."""

import tvm

_TEXT = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(x: T.Buffer((4,), "int32"), y: T.Buffer((4,), "int32")):
        for i in range(4):
            y[i] = {value}
"""


def nested(depth: int) -> tvm.IRModule:
    """So many conditions, each in the next."""
    value = "x[i]"
    for level in range(1, depth + 1):
        value = f"T.if_then_else({value} < {level}, 1, x[0]) - {level}"
    text = _TEXT.format(value=value)
    return tvm.script.from_source(text, check_well_formed=False)
