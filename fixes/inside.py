"""Running TVM's own pass inside the pass that stands in for it."""

from __future__ import annotations

from typing import Any


def run_inside(stock: Any, mod: Any, context: Any) -> Any:
    """The result of TVM's own pass, made under the same settings.

    Instruments do not see this run: for them there is one pass, the one that stands in.
    """
    import tvm

    with tvm.transform.PassContext(
        opt_level=context.opt_level,
        required_pass=context.required_pass,
        disabled_pass=context.disabled_pass,
        config=context.config,
    ):
        return stock(mod)
