"""AllocateWorkspace, right on every module (apache/tvm#20479).

Stock TVM renames the functions that ask for a workspace and then rewrites their callers, but not
those callers that are codegen or composite functions themselves, nor calls outside the first
dataflow block, nor calls through a variable. The pass here does the whole job.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fixes.fix import Fix
from fixes.targets import Attribute, GlobalFunction

FIX = Fix(
    name="allocate_workspace",
    issue="apache/tvm#20479",
    title="AllocateWorkspace leaves calls to functions it has renamed",
    replaces="tvm.relax.transform.AllocateWorkspace",
    targets=(
        Attribute("tvm.relax.transform._ffi_api", "AllocateWorkspace"),
        GlobalFunction("relax.transform.AllocateWorkspace"),
    ),
    verified_on=("0.25.0.post1", "0.26.0", "0.27.0.post1"),
    module=__name__,
)


def replacement(stock: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in for the entry that makes the pass.

    Parameters
    ----------
    stock
        The entry that is replaced; this fix has no use for it.

    Returns
    -------
    Callable
        Takes nothing, returns a ``tvm.ir.transform.Pass``.
    """
    from fixes.allocate_workspace.module_pass import allocate_workspace

    return allocate_workspace


def still_wrong(stock: Callable[..., Any]) -> bool:
    """Whether the pass that ``stock()`` makes still fails on the probe module."""
    from fixes.allocate_workspace.probe import still_wrong as judge

    return judge(stock())
