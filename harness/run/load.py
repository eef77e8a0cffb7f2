"""From a case to the IRModule it speaks of. Imports TVM."""

from __future__ import annotations

import difflib
import importlib.util
import sys
from typing import Any

import tvm
from tvm import relax

from harness.case import Builder, Case, ModuleText


def load_module(case: Case) -> tvm.IRModule:
    """Parse the module text, or call the case's builder.

    The parser's own check stays off: it hides the reason, and an ill-formed input is a finding of
    the stage `input`.
    """
    match case.module:
        case ModuleText(text=text):
            module = tvm.script.from_source(text, check_well_formed=False)
        case Builder():
            module = _call_builder(case.module)
    if isinstance(module, tvm.tirx.PrimFunc | relax.Function):
        module = tvm.IRModule.from_expr(module)
    if not isinstance(module, tvm.IRModule):
        raise TypeError(f"expected an IRModule, came {type(module).__name__}")
    return module


def _call_builder(builder: Builder) -> Any:
    name = f"_builder_{builder.file.stem}"
    spec = importlib.util.spec_from_file_location(name, builder.file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{builder.file.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    function = getattr(module, builder.function, None)
    if function is None:
        near = difflib.get_close_matches(builder.function, vars(module), n=1)
        raise AttributeError(
            f"{builder.file.name} has no function {builder.function!r}"
            + (f"; did you mean {near[0]!r}?" if near else "")
        )
    return function()
