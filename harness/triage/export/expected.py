"""A pass that holds a module against a text. Imports TVM: it is run as one beside a case."""

from __future__ import annotations

import tvm


def equal_to(module: tvm.IRModule, text: str) -> tvm.IRModule:
    """`module`, when it is what `text` reads as. Raises what TVM raises when it is not."""
    other = tvm.script.from_source(text)
    tvm.ir.assert_structural_equal(module, other)
    return module
