"""The corrected AllocateWorkspace, as a module pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvm
import tvm_ffi
from tvm import relax

from fixes.allocate_workspace import needs, release
from fixes.allocate_workspace.calls import Facts, is_external, key
from fixes.allocate_workspace.rewrite import (
    Plan,
    Rewriter,
    with_body,
    with_workspace,
    workspace_param,
)


def allocate_workspace() -> Any:
    """Make the pass; stands in for ``tvm.relax.transform.AllocateWorkspace``.

    Returns
    -------
    tvm.ir.transform.Pass
        Raises ``ValueError`` on a module where a function that needs a workspace escapes as a
        value.
    """

    def run(mod: Any, _context: Any) -> Any:
        return allocated(mod)

    return tvm.ir.transform.module_pass(run, opt_level=0, name="AllocateWorkspace")


def allocated(mod: Any) -> Any:
    """The module with every workspace allocated and handed on; `mod` itself stays as it is."""
    size = needs.largest_size(mod)
    if size == 0:
        return mod
    facts = needs.all_facts(mod)
    found = needs.receivers(facts)
    params = {gvar: workspace_param(facts[gvar].function, size) for gvar in found}
    renamed = _renamed(mod, facts, params)
    names = {gvar: facts[gvar].name for gvar in found}
    for one in facts.values():
        needs.refuse_escapes(one, names)
    functions = {}
    for gvar, function in mod.functions_items():
        if key(gvar) in found:
            new = renamed[key(gvar)]
            functions[new] = _receiver(mod, facts[key(gvar)], new, params[key(gvar)], size, renamed)
        elif key(gvar) in facts:
            functions[gvar] = _other(mod, facts[key(gvar)], size, renamed)
        else:
            functions[gvar] = function
    return tvm.IRModule(functions, attrs=mod.attrs, global_infos=mod.global_infos)


def _renamed(mod: Any, facts: Mapping[int, Facts], params: Mapping[int, Any]) -> dict[int, Any]:
    """New GlobalVars for the receivers, named as TVM would name them."""
    taken = {gvar.name_hint for gvar in mod.get_global_vars()}
    names = relax.BlockBuilder()
    renamed = {}
    for gvar, one in facts.items():
        if gvar in params:
            name = names.get_unique_name(one.name)
            while name in taken:
                name = names.get_unique_name(one.name)
            typed = with_workspace(one.function, params[gvar], one.function.body)
            renamed[gvar] = release.typed_global(name, typed)
    return renamed


def _receiver(
    mod: Any, facts: Facts, new: Any, param: Any, size: int, renamed: Mapping[int, Any]
) -> Any:
    like_stock = needs.stock_is_right(facts, renamed.keys())
    if like_stock:
        chosen = needs.asking_locals(facts)
    else:
        chosen = needs.local_receivers(facts, renamed.keys())
    needs.refuse_escapes(facts, needs.local_names(facts, chosen))
    plan = Plan(size, renamed, facts.values, like_stock, frozenset(chosen))
    body = Rewriter(mod, plan, param).rewritten_body(facts.function)
    return with_workspace(facts.function, param, body).with_attr("global_symbol", new.name_hint)


def _other(mod: Any, facts: Facts, size: int, renamed: Mapping[int, Any]) -> Any:
    function = facts.function
    if not is_external(function):
        plan = _allocating(facts, size, renamed)
    elif facts.refers_to & renamed.keys():
        plan = Plan(size, renamed, facts.values, like_stock=False)
    else:
        return function
    body = Rewriter(mod, plan, None).rewritten_body(function)
    new = with_body(function, body)
    # TVM's mutators make new blocks even where nothing changes.
    return function if tvm_ffi.structural_equal(new, function) else new


def _allocating(facts: Facts, size: int, renamed: Mapping[int, Any]) -> Plan:
    """TVM's place, the first dataflow block, when all calls see it; else the top of each caller.

    A local function can use the variable of a block around it, but passes that come later know
    such a function less well, so that is done only where TVM would do it.
    """
    sites = [site for site in facts.sites if site.callee in renamed]
    visible = all(site.sees_first_block for site in sites)
    like_stock = visible and all(site.direct for site in sites)
    captured = any(site.scopes[-1] != facts.first_block_scope for site in sites)
    if like_stock or (visible and not captured):
        return Plan(size, renamed, facts.values, like_stock, in_first_block=True)
    tops = frozenset(site.scopes[-1] for site in sites)
    return Plan(size, renamed, facts.values, like_stock=False, allocating=tops)
