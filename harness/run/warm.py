"""Pays the first-time costs of TVM once, in the fork server, so that no case pays them."""

from __future__ import annotations

import contextlib
import gc
import importlib
from collections.abc import Iterable

import numpy as np
import tvm
from tvm import relax

import fixes

_MODULE = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add_one(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("add_one"):
                vi = T.axis.spatial(4, i)
                y[vi] = x[vi] + T.float32(1)

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.add_one, (x,), R.Tensor((4,), "float32"))
            z = R.add(y, y)
            R.output(z)
        return z
"""


def warm_up(modules: Iterable[str] = ()) -> None:
    """Take a small module through all stages, then move what exists out of the collector's way.

    The first parse of a process takes 0.1 to 0.2 s, a later one 0.03 s. `modules` are imported
    too: what cases need of them may take seconds.
    """
    for name in modules:
        with contextlib.suppress(BaseException):  # a case that needs it will see for itself
            importlib.import_module(name)
    module = tvm.script.from_source(_MODULE, check_well_formed=False)
    relax.analysis.well_formed(module)
    executable = relax.build(module, target="llvm")
    machine = relax.VirtualMachine(executable, tvm.cpu())
    machine["main"](tvm.runtime.tensor(np.zeros(4, "float32")))
    del module, executable, machine
    for name in fixes.names():
        # Imports what the fix consists of; one that this TVM has no place for says so in its arm.
        with contextlib.suppress(fixes.FixNotApplied), fixes.applied(name):
            pass
    # What is left lives as long as the server: a child's collector need not walk it, and its
    # pages stay shared.
    gc.collect()
    gc.freeze()
