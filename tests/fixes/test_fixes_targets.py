"""The places where fixes go in: found, replaced, restored exactly."""

from __future__ import annotations

from typing import Any

import pytest
import tvm
from on_tvm import parsed
from tvm import relax

from fixes import FixNotApplied, names
from fixes.install import applied
from fixes.registry import get
from fixes.targets import Attribute, OpAttribute

LEGALIZE = ("FLegalize",)
NEGATIVE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.negative(x)
        return y
"""


def test_an_operator_attribute_is_what_cpp_calls_and_comes_back() -> None:
    target = OpAttribute("relax.negative", LEGALIZE)
    before = target.read()
    asked: list[Any] = []

    def legalize(builder: Any, call: Any) -> Any:
        asked.append(call)
        return before(builder, call)

    target.write(legalize)
    try:
        relax.transform.LegalizeOps()(parsed(NEGATIVE))
        assert len(asked) == 1
    finally:
        target.write(before)
    assert target.read() == before
    assert tvm.ir.Op.get("relax.negative").get_attr("FLegalize") == before
    relax.transform.LegalizeOps()(parsed(NEGATIVE))
    assert len(asked) == 1


def test_an_attribute_by_any_of_its_names() -> None:
    found = OpAttribute("relax.negative", ("FNoSuchThing", *LEGALIZE))
    assert found.read() == OpAttribute("relax.negative", LEGALIZE).read()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (OpAttribute("relax.no_such_operator", LEGALIZE), "operator relax.no_such_operator"),
        (OpAttribute("relax.negative", ("FNoSuchThing",)), "FNoSuchThing of relax.negative"),
        (OpAttribute("relax.call_tir", LEGALIZE), "FLegalize of relax.call_tir"),
    ],
)
def test_nothing_there(target: OpAttribute, message: str) -> None:
    with pytest.raises(FixNotApplied, match=f"this TVM lacks .*{message}"):
        target.read()


@pytest.mark.parametrize("name", names())
def test_every_fix_goes_in_and_comes_out(name: str) -> None:
    targets = get(name).targets
    before = [target.read() for target in targets]
    for _ in range(2):
        with applied(name), applied(name):
            assert all(t.read() != b for t, b in zip(targets, before, strict=True))
        assert [target.read() for target in targets] == before


def test_all_fixes_at_once() -> None:
    targets = [target for name in names() for target in get(name).targets]
    assert len(set(targets)) == len(targets), "two fixes on one place: the later one would hide it"
    with applied(names()):
        relax.transform.LegalizeOps()(parsed(NEGATIVE))


@pytest.mark.parametrize("name", names())
def test_what_a_fix_says_it_replaces_is_there(name: str) -> None:
    module, _, entry = get(name).replaces.rpartition(".")
    assert callable(Attribute(module, entry).read())
    assert tvm.__version__ in get(name).verified_on
