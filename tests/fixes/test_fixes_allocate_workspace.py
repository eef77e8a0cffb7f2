"""The corrected AllocateWorkspace on real TVM."""

from __future__ import annotations

import re
from typing import Any

import aw_text
import numpy as np
import pytest
import tvm
import tvm_ffi
from aw_right import RIGHT_IN_STOCK
from aw_text import ADD, asking, calling, external, main, module
from aw_wrong import HUGE, LOCAL_CHAIN, WRONG_IN_STOCK
from tvm import relax

from fixes import applied
from fixes.install import stock_of
from fixes.registry import get

STOCK = stock_of(get("allocate_workspace").targets[0])


def parsed(text: str) -> Any:
    mod = tvm.script.from_source(text, check_well_formed=False)
    relax.analysis.well_formed(mod)
    return mod


def fixed(mod: Any) -> Any:
    with applied("allocate_workspace") as fix:
        result = relax.transform.AllocateWorkspace()(mod)
    assert fix.used == 1
    relax.analysis.well_formed(result)
    return result


def stock_is_right(mod: Any) -> bool:
    try:
        relax.analysis.well_formed(STOCK()(mod))
    except Exception:
        return False
    return True


def results(mod: Any) -> Any:
    # Memory planning goes wrong on some branches by itself (apache/tvm#17348).
    with tvm.transform.PassContext(opt_level=0, disabled_pass=["StaticPlanBlockMemory"]):
        built = relax.build(relax.transform.LambdaLift()(mod), "llvm")
    vm = relax.VirtualMachine(built, tvm.cpu())
    x = tvm.runtime.tensor(np.arange(4, dtype="float32"))
    return [vm["main"](x, tvm.runtime.tensor(np.array(c))).numpy().tolist() for c in (True, False)]


def closures(mod: Any) -> int:
    """How many local functions still use variables around them once they are lifted."""
    return str(relax.transform.LambdaLift()(mod).script()).count("R.make_closure(")


def named(mod: Any) -> dict[str, Any]:
    return {gvar.name_hint: function for gvar, function in mod.functions_items()}


def workspaces(function: Any) -> list[str]:
    return [str(p) for p in function.params if str(p).startswith("workspace")]


@pytest.mark.parametrize("name", WRONG_IN_STOCK)
def test_what_stock_gets_wrong(name: str) -> None:
    text = WRONG_IN_STOCK[name]
    mod = parsed(text)
    assert not stock_is_right(mod)
    result = fixed(mod)
    assert results(result) == results(mod)
    assert closures(result) == closures(mod), "a workspace is captured where it could be passed"
    assert tvm_ffi.structural_equal(mod, parsed(text)), "the module given in has changed"


@pytest.mark.parametrize("name", RIGHT_IN_STOCK)
def test_what_stock_gets_right(name: str) -> None:
    mod = parsed(RIGHT_IN_STOCK[name])
    assert stock_is_right(mod)
    result = fixed(mod)
    tvm.ir.assert_structural_equal(result, STOCK()(mod))
    assert results(result) == results(mod)


def test_more_than_two_gibibytes() -> None:
    mod = parsed(HUGE)
    assert not stock_is_right(mod)
    result = fixed(mod)
    assert closures(result) == 0
    text = result.script()
    assert "R.shape([8589934592])" in text
    assert "workspace: R.Tensor((8589934592,)" in text


@pytest.mark.parametrize("name", aw_text.ESCAPES)
def test_escaping_function_is_refused(name: str) -> None:
    function, how, where = aw_text.ESCAPES[name]
    mod = parsed(module(asking("inner"), asking("other"), function))
    with pytest.raises(ValueError) as caught:
        fixed(mod)
    assert f"`{where}`: `inner` needs a workspace" in str(caught.value)
    assert how in str(caught.value)


def test_escaping_local_composite_is_refused() -> None:
    body = (
        aw_text.local("one", "return x_one", '"Composite": "k.one", "WorkspaceSize": 8')
        + f'y = R.call_dps_packed("p", (one,), {aw_text.TENSOR})\nreturn y'
    )
    outer = aw_text.function("outer", body, '"Codegen": "k", "WorkspaceSize": 8')
    with pytest.raises(ValueError, match="`outer`: `one` needs a workspace, but it is passed as"):
        fixed(parsed(module(outer)))


def test_escaping_local_function_that_does_not_ask_uses_the_workspace_around_it() -> None:
    body = (
        aw_text.local("near", "z = Module.inner(x_near, c)\nreturn z", "")
        + f'y = R.call_dps_packed("p", (near,), {aw_text.TENSOR})\nreturn y'
    )
    result = fixed(parsed(module(asking("inner"), external("outer", body))))
    assert workspaces(named(result)["outer1"]) == ["workspace"]
    assert re.search(r"cls\.inner1\(x_near, \w+, workspace\)", result.script())


def test_a_dead_reference_is_renamed_and_receives_nothing() -> None:
    idle = external("idle", "f = Module.inner\nreturn x")
    result = named(fixed(parsed(module(asking("inner"), idle, calling("inner")))))
    assert len(result["idle"].params) == 2


def test_first_dataflow_block_holds_the_workspace_when_all_calls_see_it() -> None:
    main_function = named(fixed(parsed(WRONG_IN_STOCK["through a variable"])))["main"]
    (block,) = main_function.body.blocks
    assert isinstance(block, relax.DataflowBlock)
    assert "alloc_tensor" in str(block.bindings[0].value)


def test_symbolic_shapes_are_not_forgotten() -> None:
    result = fixed(parsed(WRONG_IN_STOCK["symbolic shapes"]))
    assert "ndim=1" not in result.script()


def test_negative_size_is_refused() -> None:
    with pytest.raises(ValueError, match="`inner` has a negative WorkspaceSize: -4"):
        fixed(parsed(module(asking("inner", -4), calling("inner"))))


def test_chain_is_renamed_and_hands_on_one_workspace() -> None:
    result = named(fixed(parsed(WRONG_IN_STOCK["chain of composites"])))
    assert sorted(result) == ["deep1", "main", "middle1", "outer1"]
    for name in ("deep1", "middle1", "outer1"):
        function = result[name]
        assert len(function.params) == 3
        assert workspaces(function) == ["workspace"]
        assert function.attrs["global_symbol"] == name
        assert "WorkspaceSize" not in function.attrs
    assert result["main"].script().count("alloc_tensor") == 1


def test_chain_of_local_functions_hands_it_on() -> None:
    outer = named(fixed(parsed(LOCAL_CHAIN)))["outer1"]
    (block,) = outer.body.blocks
    functions = [b.value for b in block.bindings if isinstance(b.value, relax.Function)]
    assert [len(function.params) for function in functions] == [3, 3, 3]


def test_each_caller_allocates_once() -> None:
    result = named(fixed(parsed(WRONG_IN_STOCK["nested if"])))
    assert result["main"].script().count("alloc_tensor") == 1
    assert result["main"].script().count("workspace_main") == 4


def test_parameter_called_workspace_is_told_from_the_new_one() -> None:
    inner = asking("inner").replace("(x:", "(workspace:").replace("R.add(x", "R.add(workspace")
    mod = parsed(
        module(inner, external("outer", "y = Module.inner(x, c)\nreturn y"), calling("outer"))
    )
    result = fixed(mod)
    assert results(result) == results(mod)
    assert workspaces(named(result)["inner1"]) == ["workspace", "workspace_1"]


def test_function_called_workspace() -> None:
    mod = parsed(module(asking("workspace"), main("y = Module.workspace(x, c)\nreturn y")))
    result = fixed(mod)
    assert sorted(named(result)) == ["main", "workspace1"]
    assert results(result) == results(mod)


def test_what_has_nothing_to_do_with_it_stays() -> None:
    text = module(
        aw_text.function("aside", f"y = {ADD.format('x', 2)}\nreturn y", '"note": "keep", "n": 3'),
        asking("inner").replace('"WorkspaceSize"', '"note": "keep", "WorkspaceSize"'),
        external("outer", "y = Module.inner(x, c)\nreturn y"),
        calling("outer"),
    ).replace(
        "class Module:\n",
        'class Module:\n    I.module_attrs({"made_by": "a test"})\n'
        '    I.module_global_infos({"vdevice": [I.vdevice("llvm")]})\n',
    )
    mod = parsed(text)
    result = fixed(mod)
    assert result.attrs["made_by"] == "a test"
    assert len(result.global_infos["vdevice"]) == 1
    assert named(result)["aside"].same_as(named(mod)["aside"])
    assert result.get_global_var("main").same_as(mod.get_global_var("main"))
    assert named(result)["inner1"].attrs["note"] == "keep"
    assert named(result)["outer1"].attrs["Codegen"] == "k.outer"


def test_purity_stays() -> None:
    body = 'z = R.print(x, format="{}")\nreturn x'
    inner = aw_text.function(
        "inner", body, '"Codegen": "k", "WorkspaceSize": 8', deco="(pure=False)"
    )
    outer = aw_text.function(
        "outer", "y = Module.inner(x, c)\nreturn y", '"Codegen": "k"', deco="(pure=False)"
    )
    result = named(fixed(parsed(module(inner, outer, asking("calm"), calling("calm")))))
    assert {name: f.is_pure for name, f in result.items()} == {
        "inner1": False,
        "outer1": False,
        "calm1": True,
        "main": True,
    }


SPAN = tvm.ir.Span(tvm.ir.SourceName("model.py"), 1, 1, 2, 3)


def with_spans(function: Any) -> Any:
    """The function with a span on itself, its body, each binding and each call or function."""
    blocks = []
    for block in function.body.blocks:
        bindings = []
        for binding in block.bindings:
            value = binding.value
            if isinstance(value, relax.Function):
                value = with_spans(value)
            else:
                value = relax.Call(value.op, value.args, span=SPAN)
            bindings.append(relax.VarBinding(binding.var, value, SPAN))
        blocks.append(type(block)(bindings))
    body = relax.SeqExpr(blocks, function.body.body, SPAN)
    body = relax.BlockBuilder().normalize(body)
    return relax.Function(function.params, body, attrs=function.attrs, span=SPAN)


def lost_spans(function: Any) -> list[str]:
    lost = [type(node).__name__ for node in (function, function.body) if node.span is None]
    for block in function.body.blocks:
        for binding in block.bindings:
            if "alloc_tensor" in str(binding.value):
                continue
            lost += [str(binding.var) for node in (binding, binding.value) if node.span is None]
            if isinstance(binding.value, relax.Function):
                lost += lost_spans(binding.value)
    return lost


@pytest.mark.parametrize(
    "name",
    [
        "codegen calls codegen",
        "two dataflow blocks",
        "mixed local composites",
        "local function",
        "local function of a codegen function",
    ],
)
def test_spans_stay(name: str) -> None:
    mod = parsed(WRONG_IN_STOCK[name])
    for gvar, function in mod.functions_items():
        mod[gvar] = with_spans(function)
    for where, function in named(fixed(mod)).items():
        assert lost_spans(function) == [], where
