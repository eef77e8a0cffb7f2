"""From a case to the IRModule it speaks of. Imports TVM."""

from __future__ import annotations

import tvm
from tvm import relax

from harness.case import Builder, Case, ModuleText
from harness.run import names


def load_module(case: Case) -> tvm.IRModule:
    """Parse the module text, or call the case's builder.

    The parser's own check stays off: it hides the reason, and an ill-formed input is a finding of
    the stage `input`.
    """
    match case.module:
        case ModuleText(text=text):
            module = tvm.script.from_source(text, check_well_formed=False)
        case Builder():
            make = names.python_function(case.module.file, case.module.function)
            module = names.call_with(make, case.module.args)
    if isinstance(module, tvm.tirx.PrimFunc | relax.Function):
        module = tvm.IRModule.from_expr(module)
    if not isinstance(module, tvm.IRModule):
        raise TypeError(f"expected an IRModule, came {type(module).__name__}")
    return module
