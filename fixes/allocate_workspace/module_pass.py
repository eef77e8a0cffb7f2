"""The corrected AllocateWorkspace, as a module pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
    like_stock = needs.stock_is_right(size, facts, found)
    names = {gvar: facts[gvar].name for gvar in found}
    functions = {}
    for gvar, function in mod.functions_items():
        one = facts.get(key(gvar))
        if one is None:
            functions[gvar] = function
            continue
        needs.refuse_escapes(one, names)
        plan = Plan(size, renamed, one.values, like_stock)
        if key(gvar) in found:
            new = renamed[key(gvar)]
            functions[new] = _receiver(mod, one, plan, new, params[key(gvar)])
        else:
            functions[gvar] = _other(mod, one, plan)
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


def _receiver(mod: Any, facts: Facts, plan: Plan, new: Any, param: Any) -> Any:
    if plan.like_stock:
        chosen = needs.asking_locals(facts)
    else:
        chosen = needs.local_receivers(facts, plan.renamed.keys())
    needs.refuse_escapes(facts, needs.local_names(facts, chosen))
    plan = replace(plan, local_receivers=frozenset(chosen))
    body = Rewriter(mod, plan, param).rewritten_body(facts.function)
    return with_workspace(facts.function, param, body).with_attr("global_symbol", new.name_hint)


def _other(mod: Any, facts: Facts, plan: Plan) -> Any:
    function = facts.function
    if not is_external(function):
        plan = _allocating(facts, plan)
    elif not facts.refers_to & plan.renamed.keys():
        return function
    new = with_body(function, Rewriter(mod, plan, None).rewritten_body(function))
    # TVM's mutators make new blocks even where nothing changes.
    return function if tvm_ffi.structural_equal(new, function) else new


def _allocating(facts: Facts, plan: Plan) -> Plan:
    """TVM's place, the first dataflow block, when all calls see it; else the top of each caller.

    A local function can use the variable of a block around it, but passes that come later know
    such a function less well, so that is done only where TVM would do it.
    """
    sites = needs.calls_of(facts, plan.renamed.keys())
    visible = all(site.sees_first_block for site in sites)
    captured = any(site.scopes[-1] != facts.first_block_scope for site in sites)
    if plan.like_stock or (visible and not captured):
        return replace(plan, in_first_block=True)
    return replace(plan, allocating=frozenset(site.scopes[-1] for site in sites))
