"""A builder that also registers fixes which do not do their job.

It runs in the child that loads the case, so the arms that are forked from it know them.
"""

import sys

import tvm

from fixes import registry
from fixes.fix import Fix
from fixes.targets import Attribute, GlobalFunction

MODULE = """
@I.ir_module
class Module:
    @R.function
    def inner(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({{"Composite": "demo", "WorkspaceSize": 16}})
        with R.dataflow():
            y = R.add(x, R.const(1, "float32"))
            R.output(y)
        return y

    @R.function
    def outer(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({{{attributes}}})
        cls = Module
        with R.dataflow():
            y = cls.inner(x)
            R.output(y)
        return y
"""
TARGETS = (
    Attribute("tvm.relax.transform._ffi_api", "AllocateWorkspace"),
    GlobalFunction("relax.transform.AllocateWorkspace"),
)


def odd_fix(name, replacement, targets=TARGETS):
    module = f"odd_fix_{name}"
    sys.modules[module] = type(sys)(module)
    sys.modules[module].replacement = replacement
    sys.modules[module].FIX = Fix(
        name=name,
        issue="apache/tvm#20479",
        title="odd",
        replaces="tvm.relax.transform.AllocateWorkspace",
        targets=targets,
        verified_on=(),
        module=module,
    )
    registry._MODULES[name] = module


def breaking(_stock):
    def fail(_mod, _context):
        raise ValueError("this fix breaks everything")

    return lambda: tvm.ir.transform.module_pass(fail, opt_level=0, name="AllocateWorkspace")


def _module(attributes):
    odd_fix("does_nothing", lambda stock: stock)
    odd_fix("breaks", breaking)
    odd_fix("misses", lambda stock: stock, (Attribute("tvm.relax.transform._ffi_api", "NoSuch"),))
    return tvm.script.from_source(MODULE.format(attributes=attributes), check_well_formed=False)


def wrong_in_stock():
    return _module('"Codegen": "demo"')


def right_in_stock():
    return _module("")
