"""Strided slices, empty and not, against numpy and against TVM."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from on_tvm import equal, outcome, parsed, results
from tvm import relax
from tvm.relax.transform import LegalizeOps

import fixes
from fixes import applied

NAME = "empty_strided_slice"
SIZE = 4
ENDS = range(-SIZE - 2, SIZE + 3)
RANGES = [(b, e, s) for b in ENDS for e in ENDS for s in (1, -1, 2, -3)]


def shapes(mod: Any) -> list[list[int]]:
    """The sizes of the tuple that ``main`` returns."""
    function = mod["main"]
    result = function.ret_ty if hasattr(function, "ret_ty") else function.ret_struct_info
    return [[int(dim) for dim in field.shape.values] for field in result.fields]


def text(*slices: str, x: str = "(4, 2)") -> str:
    lines = [f"z{n} = R.strided_slice(x, {one})" for n, one in enumerate(slices)]
    body = "\n        ".join([*lines, f"return ({', '.join(f'z{n}' for n in range(len(lines)))},)"])
    return f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor({x}, "float32")):
        {body}
"""


def of(begin: int, end: int, step: int) -> str:
    return f"axes=[0], begin=[{begin}], end=[{end}], strides=[{step}]"


def test_sizes_as_numpy() -> None:
    x = np.zeros((SIZE, 2))
    mod = parsed(text(*(of(*one) for one in RANGES)))
    with applied(NAME) as fix:
        fixed = LegalizeOps()(mod)
    relax.analysis.well_formed(fixed)
    assert fix.used == len(RANGES)
    assert shapes(fixed) == [list(x[begin:end:step].shape) for begin, end, step in RANGES]


def test_legalised_as_by_tvm_where_that_can() -> None:
    right = wrong = 0
    for one in RANGES[::5]:
        mod = parsed(text(of(*one)))
        stock = outcome(LegalizeOps(), mod)
        with applied(NAME) as fix:
            fixed = LegalizeOps()(mod)
        assert fix.used
        relax.analysis.well_formed(fixed)
        if isinstance(stock, Exception):
            wrong += 1
        else:
            right += 1
            assert equal(stock, fixed), one
    assert right > 60 and wrong > 10


def test_numbers() -> None:
    x = np.arange(8, dtype="float32").reshape(4, 2)
    ranges = RANGES[::19]
    assert any(x[b:e:s].size for b, e, s in ranges)
    with applied(NAME):
        found = results(parsed(text(*(of(*one) for one in ranges))), x)
    for (begin, end, step), one in zip(ranges, found, strict=True):
        np.testing.assert_array_equal(one, x[begin:end:step])


def test_several_axes_no_strides_and_negative_axes() -> None:
    mod = "axes=[-1, 0], begin=[1, 3], end=[2, 1]"
    x = np.arange(8, dtype="float32").reshape(4, 2)
    with applied(NAME):
        (found,) = results(parsed(text(mod)), x)
    assert found.shape == x[3:1, 1:2].shape == (0, 1)


@pytest.mark.parametrize(("begin", "end", "step"), [(3, 1, 1), (-1, -3, 1), (1, 3, -1)])
def test_symbolic_size(begin: int, end: int, step: int) -> None:
    mod = text(of(begin, end, step), x='("n", 2)')
    x = np.arange(8, dtype="float32").reshape(4, 2)
    with applied(NAME):
        (found,) = results(parsed(mod), x)
    assert found.shape == (0, 2)


def test_symbolic_ends_stay_as_they_are() -> None:
    mod = f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32"), s: R.Shape(["m"])):
        n = T.int64()
        m = T.int64()
        a = R.strided_slice(x, axes=[0], begin=[m], end=[n - 1])
        b = R.strided_slice(x, {of(-1, 1, 1)})
        c = R.strided_slice(x, {of(1, -1, 1)})
        return (a, b, c)
"""
    stock = LegalizeOps()(parsed(mod))
    with applied(NAME):
        assert equal(LegalizeOps()(parsed(mod)), stock)


def test_assume_inbound() -> None:
    mod = parsed(
        text(*(f"{of(*one)}, assume_inbound=True" for one in [(3, 1, 1), (1, 3, 1), (2, 2, 1)]))
    )
    with applied(NAME):
        assert shapes(LegalizeOps()(mod)) == [[0, 2], [2, 2], [0, 2]]


def test_what_follows_gets_its_type_anew() -> None:
    mod = parsed(
        f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 2), "float32")):
        y = R.strided_slice(x, {of(3, 1, 1)})
        z = R.concat((y, x), axis=0)
        return z
"""
    )
    x = np.arange(8, dtype="float32").reshape(4, 2)
    with applied(NAME):
        (found,) = results(mod, x)
    np.testing.assert_array_equal(found, x)


def test_before_legalising_nothing_changes() -> None:
    stock = tvm.script.from_source(text(of(3, 1, 1)))
    with applied(NAME) as fix:
        assert equal(tvm.script.from_source(text(of(3, 1, 1))), stock)
        relax.analysis.well_formed(stock)
    assert fix.used == 0


def test_state() -> None:
    from fixes.empty_strided_slice import replacement, still_wrong
    from fixes.install import stock_of

    assert fixes.state(NAME) is fixes.FixState.NEEDED
    assert not still_wrong(replacement(stock_of(fixes.get(NAME).targets[0])))
