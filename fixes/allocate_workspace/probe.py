"""A small module that tells a pass with the bug from one without."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax

_TEXT = """
@I.ir_module
class Probe:
    @R.function
    def deep(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"Composite": "probe.deep", "WorkspaceSize": 64})
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        return y

    @R.function
    def shallow(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"Codegen": "probe"})
        y = Probe.deep(x)
        return y

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            y = Probe.shallow(x)
            R.output(y)
        return y
"""


def probe() -> Any:
    """The module: a codegen function that calls the one with ``WorkspaceSize``."""
    return tvm.script.from_source(_TEXT)


def still_wrong(stock: Any) -> bool:
    """Whether the pass raises on the probe, or makes it ill-formed."""
    try:
        return not is_well_formed(stock(probe()))
    except Exception:
        return True


def is_well_formed(mod: Any) -> bool:
    try:
        # Newer releases raise, older ones return the answer.
        return relax.analysis.well_formed(mod) is not False
    except Exception:
        return False
