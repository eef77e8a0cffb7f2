"""FuseOps on generated tuples of tuples."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import tvm
from on_tvm import equal, outcome, parsed, results
from tvm import relax
from tvm.relax.transform import AnnotateTIROpPattern, FuseOps, FuseTIR, LegalizeOps

import fixes
from fixes import applied

NAME = "fuse_ops_tuple_access"
TENSOR = 'R.Tensor((4,), "float32")'
Shape = Any  # "t" for a tensor, or a list of these


def generated(rng: random.Random) -> str:
    """A function that takes tuples apart, puts them together, and computes now and then."""
    known: dict[str, Shape] = {"x": [[["t", "t"], "t"], ["t"], "t"]}
    lines = []
    for n in range(rng.randint(2, 9)):
        name = f"v{n}"
        tuples = [one for one, shape in known.items() if shape != "t"]
        tensors = [one for one, shape in known.items() if shape == "t"]
        kind = rng.choice(["take"] * 5 + ["make", "add", "add", "split"])
        if kind == "take" or not tensors:
            taken = rng.choice(tuples[-3:])
            index = rng.randrange(len(known[taken]))
            lines.append(f"{name} = {taken}[{index}]")
            known[name] = known[taken][index]
        elif kind == "make":
            parts = rng.choices(list(known), k=rng.randint(1, 3))
            lines.append(f"{name} = ({', '.join(parts)},)")
            known[name] = [known[one] for one in parts]
        elif kind == "add":
            one, other = rng.choices(tensors, k=2)
            lines.append(f"{name} = R.add({one}, {other})")
            known[name] = "t"
        else:
            lines.append(f"{name} = R.split(R.concat([{rng.choice(tensors)}] * 2), 2)")
            known[name] = ["t", "t"]
    tensors = [one for one, shape in known.items() if shape == "t"]
    if not tensors:
        return generated(rng)
    outputs = ", ".join(dict.fromkeys([tensors[-1], rng.choice(tensors)]))
    return text(lines, outputs)


def text(lines: list[str], outputs: str) -> str:
    body = "\n            ".join([*lines, f"R.output({outputs})"])
    nested = f"R.Tuple(R.Tuple(R.Tuple({TENSOR}, {TENSOR}), {TENSOR}), R.Tuple({TENSOR}), {TENSOR})"
    return f"""
@I.ir_module
class Module:
    @R.function
    def main(x: {nested}):
        with R.dataflow():
            {body}
        return ({outputs},)
"""


def ready(source: str) -> Any:
    mod = parsed(source)
    return AnnotateTIROpPattern()(LegalizeOps()(mod))


def given() -> Any:
    a, b, c, d, e = (tvm.runtime.tensor(np.full(4, 10.0**n, "float32")) for n in range(5))
    return (((a, b), c), (d,), e)


def test_equal_where_fuse_tir_takes_it_and_corrected_where_not() -> None:
    right = wrong = 0
    for seed in range(100):
        mod = ready(generated(random.Random(seed)))
        stock = FuseOps()(mod)
        with applied(NAME) as fix:
            fixed = FuseOps()(mod)
        assert fix.used == 1
        relax.analysis.well_formed(fixed)
        if not isinstance(outcome(FuseTIR(), stock), Exception):
            right += 1
            assert equal(stock, fixed)
            continue
        wrong += 1
        final = FuseTIR()(fixed)
        relax.analysis.well_formed(final)
        names = {gvar.name_hint for gvar in stock.get_global_vars()}
        left = {gvar.name_hint for gvar in fixed.get_global_vars()}
        assert left < names and all(name.startswith("fused") for name in names - left)
        if wrong % 10 == 0:
            for one, other in zip(results(mod, given()), results(final, given()), strict=True):
                np.testing.assert_array_equal(one, other)
    assert right > 25 and wrong > 20


def test_builds_in_the_fusing_pipeline() -> None:
    mod = parsed(text(["a = x[0]", "b = a[0]", "c = b[1]"], "c"))
    stock = outcome(lambda: results(mod, given(), fused=True))
    assert "fused" in str(stock)
    with applied(NAME):
        (found,) = results(mod, given(), fused=True)
    assert found.tolist() == [10.0] * 4


def test_a_function_that_was_there_before_stays() -> None:
    mod = parsed(
        f"""
@I.ir_module
class Module:
    @R.function(private=True)
    def fused(x: R.Tuple({TENSOR}, {TENSOR})) -> {TENSOR}:
        with R.dataflow():
            y = x[1]
            R.output(y)
        return y

    @R.function
    def main(x: R.Tuple({TENSOR}, {TENSOR})) -> {TENSOR}:
        with R.dataflow():
            y = Module.fused(x)
            R.output(y)
        return y
"""
    )
    stock = FuseOps()(mod)
    with applied(NAME):
        assert equal(FuseOps()(mod), stock)


def test_settings_reach_tvm_and_the_pass_can_be_disabled() -> None:
    mod = ready(text(["a = x[2]", "b = R.add(a, a)", "c = R.add(b, b)", "d = R.add(c, c)"], "d"))
    seen: list[Any] = []
    for args, config in [((), {}), ((0,), {}), ((), {"relax.FuseOps.max_depth": 2})]:
        with tvm.transform.PassContext(opt_level=2, config=config):
            stock = FuseOps(*args)(mod)
            with applied(NAME):
                assert equal(FuseOps(*args)(mod), stock)
        assert not any(equal(stock, one) for one in seen), "the setting makes no difference here"
        seen.append(stock)
    with applied(NAME) as fix, tvm.transform.PassContext(disabled_pass=["FuseOps"]):
        assert equal(tvm.transform.Sequential([FuseOps()])(mod), mod)
    assert fix.used == 1


def test_state() -> None:
    from fixes.fuse_ops_tuple_access import replacement, still_wrong
    from fixes.install import stock_of

    assert fixes.state(NAME) is fixes.FixState.NEEDED
    assert not still_wrong(replacement(stock_of(fixes.get(NAME).targets[0])))
