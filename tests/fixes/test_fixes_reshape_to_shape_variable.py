"""Reshape and its like, to shapes written out and to shapes in variables."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import tvm
from on_tvm import equal, outcome, parsed, results
from tvm import relax
from tvm.relax.transform import FoldConstant, LegalizeOps

import fixes
from fixes import applied

NAME = "reshape_to_shape_variable"
FORMS = [(12,), (3, 4), (4, 3), (2, 6), (2, 3, 2), (12, 1), (1, 12)]


def module(params: str, *lines: str) -> str:
    body = "\n        ".join(lines)
    return f"""
@I.ir_module
class Module:
    @R.function
    def main({params}):
        {body}
"""


def generated(rng: random.Random) -> tuple[str, bool]:
    """A chain of reshapes from (12,), and whether TVM can do it."""
    params, lines, last, right = ['x: R.Tensor((12,), "float32")'], [], "x", True
    for n in range(rng.randint(1, 4)):
        form = list(rng.choice(FORMS))
        kind = rng.choice(["inline", "inline", "bound", "bound", "alias", "parameter"])
        target = f"R.shape({form})"
        if kind == "parameter":
            params.append(f"s{n}: R.Shape({form})")
        if kind in ("bound", "alias"):
            lines.append(f"s{n} = R.shape({form})")
        if kind == "alias":
            lines.append(f"t{n} = s{n}")
        if kind != "inline":
            target = f"t{n}" if kind == "alias" else f"s{n}"
        right = right and kind in ("inline", "bound")
        lines.append(f"y{n} = R.reshape({last}, {target})")
        last = f"y{n}"
        if rng.random() < 0.3:
            lines.append(f"z{n} = R.add({last}, {last})")
            last = f"z{n}"
    return module(", ".join(params), *dataflow(last, *lines)), right


def dataflow(output: str, *lines: str) -> list[str]:
    inside = [f"    {line}" for line in (*lines, f"R.output({output})")]
    return ["with R.dataflow():", *inside, f"return {output}"]


@pytest.mark.parametrize("passes", [[LegalizeOps()], [FoldConstant()]], ids=["legalize", "fold"])
def test_equal_where_tvm_is_right(passes: list[Any]) -> None:
    seen = {True: 0, False: 0}
    for seed in range(60):
        text, right = generated(random.Random(seed))
        mod = parsed(text)
        run = tvm.transform.Sequential(passes)
        stock = outcome(run, mod)
        with applied(NAME) as fix:
            fixed = run(mod)
        assert fix.used
        relax.analysis.well_formed(fixed)
        assert right != isinstance(stock, AssertionError), text
        assert not right or equal(stock, fixed), text
        seen[right] += 1
    assert min(seen.values()) > 15


def test_numbers_of_generated_chains() -> None:
    x = np.arange(12, dtype="float32")
    wrong = (one for one in (generated(random.Random(seed)) for seed in range(60)) if not one[1])
    for text, _ in list(wrong)[:4]:
        mod = parsed(text)
        (function,) = mod.functions.values()
        shapes = [p.ty if hasattr(p, "ty") else p.struct_info for p in function.params][1:]
        given = [tvm_ffi_shape(one) for one in shapes]
        with applied(NAME):
            (found,) = results(mod, x, *given)
        assert np.array_equal(found.ravel(), x * 2 ** text.count("R.add("))


def tvm_ffi_shape(type_: Any) -> Any:
    import tvm_ffi

    return tvm_ffi.Shape([int(dim) for dim in type_.values])


READ = module(
    'x: R.Tensor((6,), "float32"), t: R.Tensor((2,), "int64")',
    "s: R.Shape(ndim=2) = R.tensor_to_shape(t)",
    *dataflow("y", 'y: R.Tensor(ndim=2, dtype="float32") = R.reshape(x, s)'),
)


@pytest.mark.parametrize("fused", [False, True], ids=["default", "target"])
def test_shape_read_from_a_tensor(fused: bool) -> None:
    x, t = np.arange(6, dtype="float32"), np.array([3, 2])
    stock = outcome(lambda: results(parsed(READ), x, t, fused=fused))
    assert isinstance(stock, AssertionError) == fused
    with applied(NAME):
        (found,) = results(parsed(READ), x, t, fused=fused)
    np.testing.assert_array_equal(found, x.reshape(3, 2))


def test_symbolic_parameter() -> None:
    import tvm_ffi

    mod = parsed(
        module(
            'x: R.Tensor(("k",), "float32"), s: R.Shape(["a", "b"])',
            "y = R.reshape(x, s)",
            "z = R.add(y, y)",
            "return z",
        )
    )
    assert isinstance(outcome(LegalizeOps(), mod), AssertionError)
    x = np.arange(6, dtype="float32")
    for fused in (False, True):
        with applied(NAME):
            (found,) = results(mod, x, tvm_ffi.Shape([2, 3]), fused=fused)
        np.testing.assert_array_equal(found, 2 * x.reshape(2, 3))


@pytest.mark.parametrize(("op", "x"), [("broadcast_to", "(3,)"), ("collapse_sum_to", "(2, 2, 3)")])
def test_the_other_operators(op: str, x: str) -> None:
    # TVM infers no shape for these here, so only FoldConstant asks the legaliser.
    params = f's: R.Shape([2, 3]), x: R.Tensor({x}, "float32")'
    mod = parsed(module(params, *dataflow("y", f"y = R.{op}(x, s)")))
    assert isinstance(outcome(FoldConstant(), mod), AssertionError)
    with applied(NAME) as fix:
        assert equal(FoldConstant()(mod), mod)
    assert fix.used == 1
    written = parsed(module(params, *dataflow("y", f"y = R.{op}(x, R.shape([2, 3]))")))
    stock = LegalizeOps()(written)
    with applied(NAME):
        assert equal(stock, LegalizeOps()(written))


def test_state() -> None:
    from fixes.install import stock_of
    from fixes.reshape_to_shape_variable import replacement, still_wrong

    assert fixes.state(NAME) is fixes.FixState.NEEDED
    assert not still_wrong(replacement(stock_of(fixes.get(NAME).targets[0])))
