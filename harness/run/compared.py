"""Passes that tell whether what stands between them changes the module. Imports TVM."""

from __future__ import annotations

import tvm

_BEFORE: list[tvm.IRModule] = []


class Changed(Exception):
    """The module is another than before."""


def remember(module: tvm.IRModule) -> tvm.IRModule:
    """Keep the module for `unchanged`."""
    _BEFORE[:] = [module]
    return module


def unchanged(module: tvm.IRModule) -> tvm.IRModule:
    """Raise `Changed` unless the module is as `remember` saw it."""
    try:
        tvm.ir.assert_structural_equal(module, _BEFORE[0])
    except ValueError:
        raise Changed from None
    return module
