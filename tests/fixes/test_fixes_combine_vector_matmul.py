"""CombineParallelMatmul beside vectors, on generated functions."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import tvm
from on_tvm import equal, outcome, parsed, results
from tvm import relax
from tvm.relax.transform import CombineParallelMatmul

import fixes
from fixes import applied

NAME = "combine_vector_matmul"
LEFT = ["(4,)", "(2, 4)", "(3, 2, 4)"]
RIGHT = ["(4,)", "(4, 3)", "(4, 5)", "(3, 4, 2)", "(3, 4, 6)"]


def module(left: list[str], branches: list[tuple[int, str, str]], dataflow: bool = True) -> str:
    """A function with those left operands; a branch is a left one, a right one, what follows."""
    params = [f'x{n}: R.Tensor({shape}, "float32")' for n, shape in enumerate(left)]
    lines = []
    for n, (number, right, after) in enumerate(branches):
        params.append(f'w{n}: R.Tensor({right}, "float32")')
        lines.append(f"m{n} = R.matmul(x{number}, w{n})")
        bias = right.strip("()").split(",")[-1].strip()
        if after.startswith("bias"):
            params.append(f'b{n}: R.Tensor(({bias},), "float32")')
            lines.append(f"a{n} = R.add(m{n}, b{n})")
            after = after[4:] and f"{after[4:]}(a{n})"
        elif after:
            after = f"{after}(m{n})"
        last = lines[-1].split(" ")[0]
        lines.append(f"y{n} = {after}" if after else f"y{n} = {last}")
    found = ", ".join(f"y{n}" for n in range(len(branches)))
    block = ["with R.dataflow():", *(f"    {line}" for line in lines), f"    R.output({found})"]
    body = "\n        ".join([*(block if dataflow else lines), f"return ({found},)"])
    return f"""
@I.ir_module
class Module:
    @R.function
    def main({", ".join(params)}):
        {body}
"""


def generated(rng: random.Random) -> str:
    left = rng.choices(LEFT, [2, 5, 2], k=rng.choice([1, 1, 2]))
    branches = []
    for _ in range(rng.randint(2, 5)):
        right = rng.choice(RIGHT)
        after = ["", "", "R.nn.relu"]
        if right != "(4,)":
            after += ["bias", "bias", "biasR.nn.relu", "biasR.nn.gelu"]
        branches.append((rng.randrange(len(left)), right, rng.choice(after)))
    return module(left, branches)


def arrays(mod: Any, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    (function,) = mod.functions.values()
    types = [p.ty if hasattr(p, "ty") else p.struct_info for p in function.params]
    return [rng.uniform(-1, 1, [int(d) for d in ty.shape]).astype("float32") for ty in types]


def fixed(mod: Any, *args: Any) -> Any:
    with applied(NAME) as fix:
        made = CombineParallelMatmul(*args)(mod)
    assert fix.used == 1
    relax.analysis.well_formed(made)
    return made


def concatenations(mod: Any) -> int:
    return str(mod.script()).count("R.concat")


def test_equal_where_tvm_is_right_and_well_formed_where_it_stops() -> None:
    right = wrong = ran = 0
    for seed in range(120):
        mod = parsed(generated(random.Random(seed)))
        stock = outcome(CombineParallelMatmul(), mod)
        result = fixed(mod)
        if not isinstance(stock, Exception):
            right += 1
            assert equal(stock, result), mod.script()
            continue
        wrong += 1
        if wrong % 8 == 0:
            ran += 1
            given = arrays(mod)
            for one, other in zip(results(mod, *given), results(result, *given), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    assert right > 30 and wrong > 20 and ran > 2


@pytest.mark.parametrize("after", ["", "bias", "biasR.nn.relu", "R.nn.relu"])
def test_matrices_are_combined_as_without_the_vectors(after: str) -> None:
    matrices = [(0, "(4, 3)", after), (0, "(4, 5)", after), (1, "(4,)", "")]
    vectors = [(0, "(4,)", ""), (0, "(4,)", "R.nn.relu")]
    left = ["(2, 4)", "(4,)"]
    without = CombineParallelMatmul()(parsed(module(left, matrices)))
    result = fixed(parsed(module(left, matrices + vectors)))
    assert concatenations(without) == concatenations(result) == (2 if "bias" in after else 1)
    kept = result.script().count("R.matmul(") - without.script().count("R.matmul(")
    assert kept == len(vectors)


@pytest.mark.parametrize(
    ("left", "right"),
    [("(4,)", "(4, 3)"), ("(4,)", "(3, 4, 2)"), ("(2, 4)", "(4,)"), ("(4,)", "(4,)"),
     ('("n", "k")', '("k",)'), ('("k",)', '("k", 3)')],
)  # fmt: skip
def test_nothing_to_combine_leaves_the_function_alone(left: str, right: str) -> None:
    mod = parsed(module([left], [(0, right, ""), (0, right, "")]))
    assert isinstance(outcome(CombineParallelMatmul(), mod), (ValueError, IndexError))
    assert equal(fixed(mod), mod)


def test_vectors_times_what_is_combined() -> None:
    lines = [
        "a = R.matmul(x, v)",
        "b = R.matmul(x, w)",
        "c = R.matmul(a, t)",
        "d = R.matmul(a, u)",
        "e = R.matmul(c, b)",
        "f = R.matmul(c, b)",
        "R.output(d, e, f)",
    ]
    body = "\n            ".join(lines)
    mod = parsed(
        f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), v: R.Tensor((4, 3), "float32"),
             w: R.Tensor((4, 5), "float32"), t: R.Tensor((3,), "float32"),
             u: R.Tensor((3,), "float32")):
        with R.dataflow():
            {body}
        return (d, e, f)
"""
    )
    assert isinstance(outcome(CombineParallelMatmul(), mod), Exception)
    result = fixed(mod)
    assert concatenations(result) == 1 and result.script().count("R.matmul(") == 5
    given = arrays(mod)
    for one, other in zip(results(mod, *given), results(result, *given), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_attributes_of_the_matmul_stay() -> None:
    text = module(["(4,)"], [(0, "(4, 3)", ""), (0, "(4, 3)", "")])
    mod = parsed(text.replace("w0)", 'w0, out_dtype="float64")'))
    assert equal(fixed(mod), mod)


def test_other_functions_of_the_module_are_combined() -> None:
    good = parsed(module(["(2, 4)"], [(0, "(4, 3)", ""), (0, "(4, 5)", "")]))
    bad = parsed(module(["(4,)"], [(0, "(4, 3)", ""), (0, "(4, 5)", "")]))
    both = tvm.IRModule(
        {
            "good": good["main"].with_attr("global_symbol", "good"),
            "bad": bad["main"].with_attr("global_symbol", "bad"),
        }
    )
    result = fixed(both)
    assert equal(tvm.IRModule({"bad": result["bad"]}), tvm.IRModule({"bad": both["bad"]}))
    assert concatenations(tvm.IRModule({"good": result["good"]})) == 1


def test_the_callback_still_decides() -> None:
    branches = [(0, "(4, 3)", ""), (0, "(4, 5)", ""), (0, "(4,)", ""), (0, "(4,)", "")]
    mod = parsed(module(["(2, 4)"], branches))
    seen = []

    def refuse(left: Any, right: Any, bias: Any, bindings: Any) -> bool:
        seen.append(len(right))
        return False

    assert equal(fixed(mod, refuse), mod)
    assert set(seen) == {2}


def test_what_else_stops_tvm_still_stops() -> None:
    text = module(["(2, 4)"], [(0, "(4, 3)", "bias"), (0, "(4, 5)", "bias")])
    text = text.replace('b0: R.Tensor((3,), "float32")', 'b0: R.Tensor((1,), "float32")')
    stock = outcome(CombineParallelMatmul(), parsed(text))
    with applied(NAME):
        fixed = outcome(CombineParallelMatmul(), parsed(text))
    assert isinstance(stock, Exception) and type(fixed) is type(stock)


def test_instruments_see_one_pass_and_it_can_be_disabled() -> None:
    seen = []

    @tvm.instrument.pass_instrument
    class Names:
        def run_before_pass(self, _mod: Any, info: Any) -> None:
            seen.append(info.name)

    mod = parsed(module(["(4,)"], [(0, "(4, 3)", ""), (0, "(4, 3)", "")]))
    with applied(NAME) as fix, tvm.transform.PassContext(instruments=[Names()]):
        tvm.transform.Sequential([CombineParallelMatmul()])(mod)
    assert seen.count("CombineParallelMatmul") == 1
    with applied(NAME), tvm.transform.PassContext(disabled_pass=["CombineParallelMatmul"]):
        tvm.transform.Sequential([CombineParallelMatmul()])(mod)
    assert fix.used == 1


def test_state() -> None:
    from fixes.combine_vector_matmul import replacement, still_wrong
    from fixes.install import stock_of

    assert fixes.state(NAME) is fixes.FixState.NEEDED
    assert not still_wrong(replacement(stock_of(fixes.get(NAME).targets[0])))
