"""NaN in maximum, minimum, relu and clip; every other number as in TVM, to the bit."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from on_tvm import equal, outcome, parsed, results
from tvm import relax

import fixes
from fixes import applied
from fixes.install import stock_of

NAME = "nan_propagation"
FLOATS = {
    "float16": np.dtype("float16"),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype("float32"),
    "float64": np.dtype("float64"),
}
EXPRESSIONS: dict[str, Any] = {
    "R.maximum(x, y)": np.maximum,
    "R.minimum(x, y)": np.minimum,
    'R.maximum(x, R.const(0.5, "DTYPE"))': lambda x, y: np.maximum(x, x.dtype.type(0.5)),
    'R.minimum(R.const(0.5, "DTYPE"), x)': lambda x, y: np.minimum(x.dtype.type(0.5), x),
    "R.nn.relu(x)": lambda x, y: np.maximum(x, x.dtype.type(0)),
    "R.clip(x, -1, 1)": lambda x, y: np.clip(x, x.dtype.type(-1), x.dtype.type(1)),
}
OTHERS = [
    "R.add(x, y)",
    "R.nn.leakyrelu(x, 0.1)",
    "R.nn.softmax(x)",
    "R.max(x)",
    "R.min(x, keepdims=True)",
    "R.exp(x)",
    "R.where(R.greater(x, y), x, y)",
]


def text(expression: str, dtype: str, x: str = "(64,)", y: str = "(64,)") -> str:
    return f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor({x}, "{dtype}"), y: R.Tensor({y}, "{dtype}")):
        with R.dataflow():
            z = {expression.replace("DTYPE", dtype)}
            R.output(z)
        return z
"""


def special(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Every pair of numbers of interest."""
    finfo: Any = ml_dtypes.finfo
    small = float(finfo(dtype).smallest_subnormal)
    one = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -1.5, small]
    pairs = np.array(list(itertools.product(one, one))).astype(dtype)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


def bits(array: Any) -> Any:
    return array.view(f"uint{array.dtype.itemsize * 8}")


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_as_numpy_and_other_numbers_as_tvm(dtype: str) -> None:
    x, y = special(FLOATS[dtype])
    mod = parsed(text(f"({', '.join(EXPRESSIONS)})", dtype))
    stock = results(mod, x, y)
    with applied(NAME) as fix:
        fixed = results(mod, x, y)
    assert fix.used == len(EXPRESSIONS)
    for (expression, meant), before, after in zip(EXPRESSIONS.items(), stock, fixed, strict=True):
        with np.errstate(invalid="ignore"):
            nan = np.isnan(meant(x, y))
        assert nan.any() and np.array_equal(np.isnan(after), nan), expression
        assert np.array_equal(bits(after)[~nan], bits(before)[~nan]), expression
        first_is_constant = expression.startswith("R.minimum(R.const")
        assert first_is_constant == np.array_equal(np.isnan(before), nan), expression


def test_in_the_fusing_pipeline() -> None:
    x, y = special(FLOATS["float32"])
    mod = parsed(text("R.nn.relu(R.add(R.clip(R.maximum(x, y), -1, 1), y))", "float32"))
    with applied(NAME):
        (fixed,) = results(mod, x, y, fused=True)
    expected = np.maximum(np.clip(np.maximum(x, y), np.float32(-1), np.float32(1)) + y, 0)
    np.testing.assert_array_equal(fixed, expected)


@pytest.mark.parametrize(
    ("x", "y"), [('("n",)', '("n",)'), ("(3, 1)", "(4,)"), ("(1,)", '("n", 4)'), ("()", "(4,)")]
)
def test_broadcasts_and_symbolic_shapes(x: str, y: str) -> None:
    mod = parsed(text("R.maximum(x, y)", "float32", x, y))
    shapes = [
        tuple(eval(shape, {}, {})) for shape in (x.replace('"n"', "4"), y.replace('"n"', "4"))
    ]
    one = np.full(shapes[0], np.nan, "float32")
    other = np.ones(shapes[1], "float32")
    with applied(NAME):
        (fixed,) = results(mod, one, other)
    assert np.isnan(fixed).all() and fixed.shape == np.maximum(one, other).shape


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("expression", ["R.maximum(x, y)", "R.minimum(x, y)", "R.nn.relu(x)"])
def test_whole_numbers_stay_as_they_are(expression: str, dtype: str) -> None:
    mod = parsed(text(expression, dtype))
    stock = outcome(relax.transform.LegalizeOps(), mod)
    with applied(NAME) as fix:
        fixed = outcome(relax.transform.LegalizeOps(), mod)
    assert fix.used == 1
    assert type(stock) is type(fixed)
    assert isinstance(stock, Exception) or equal(stock, fixed)


@pytest.mark.parametrize("expression", OTHERS)
def test_other_operators_stay_as_they_are(expression: str) -> None:
    mod = parsed(text(expression, "float32"))
    stock = relax.transform.LegalizeOps()(mod)
    with applied(NAME) as fix:
        assert equal(stock, relax.transform.LegalizeOps()(mod))
    assert fix.used == 0


def test_kernels_keep_their_names_and_are_shared() -> None:
    mod = parsed(text("R.add(R.maximum(x, y), R.maximum(y, R.maximum(y, x)))", "float32"))
    stock = relax.transform.LegalizeOps()(mod)
    with applied(NAME):
        fixed = relax.transform.LegalizeOps()(mod)
    names = [sorted(g.name_hint for g in one.get_global_vars()) for one in (stock, fixed)]
    assert names[0] == names[1] == ["add", "main", "maximum"]


def test_two_limits_need_one_test() -> None:
    with applied(NAME):
        fixed = relax.transform.LegalizeOps()(parsed(text("R.clip(x, -1, 1)", "float32")))
    assert fixed.script().count("isnan") == 1


def test_every_target_is_restored() -> None:
    before = [target.read() for target in fixes.get(NAME).targets]
    with applied(NAME):
        assert [stock_of(target) for target in fixes.get(NAME).targets] == before
        assert all(t.read() != b for t, b in zip(fixes.get(NAME).targets, before, strict=True))
    assert [target.read() for target in fixes.get(NAME).targets] == before


def test_state() -> None:
    assert fixes.state(NAME) is fixes.FixState.NEEDED
    with applied(NAME):
        right = fixes.get(NAME).targets[0].read()
    from fixes.nan_propagation import still_wrong

    assert not still_wrong(right)
