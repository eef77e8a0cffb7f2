"""Arguments, calls and checks: what a case says is what TVM is given and held against."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from runs import faults, make_case, report_on, run_once

from harness.run.pool import Pool
from harness.verdict.word import Verdict


def relax(body: str, params: str, result: str = "R.Object") -> str:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return (
        "@I.ir_module\nclass Module:\n    @R.function\n"
        f"    def main({params}) -> {result}:\n{lines}"
    )


def same(dtype: str, shape: str = "(4,)") -> str:
    """A function that gives its argument back."""
    tensor = f'R.Tensor({shape}, "{dtype}")'
    return relax("return x", f"x: {tensor}", tensor)


def call(*args: Any, **keys: Any) -> dict[str, Any]:
    return {"call": "main", "args": list(args), **keys}


PAIR = relax(
    "y = (x, (x, R.const(7, 'int32')))\nreturn y",
    'x: R.Tensor((2,), "float32")',
    'R.Tuple(R.Tensor((2,), "float32"), R.Tuple(R.Tensor((2,), "float32"), R.Tensor((), "int32")))',
)
FROM_TUPLE = relax(
    "a = t[0]\nb = t[1]\ny = R.add(a, b)\nreturn y",
    't: R.Tuple(R.Tensor((2,), "float32"), R.Tensor((2,), "float32"))',
    'R.Tensor((2,), "float32")',
)
OF_SHAPE = relax("return s", 's: R.Shape(["n", "m"])', 'R.Shape(["n", "m"])')
ADD = relax(
    "y = R.add(x, z)\nreturn y",
    'x: R.Tensor((4,), "float32"), z: R.Tensor((4,), "float32")',
    'R.Tensor((4,), "float32")',
)
DIVIDE = relax(
    "y = R.divide(x, z)\nreturn y",
    'x: R.Tensor((2,), "float32"), z: R.Tensor((2,), "float32")',
    'R.Tensor((2,), "float32")',
)
BIG = 2**53 + 1
KERNEL = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(a: T.handle, n: T.int32, k: T.float32, b: T.handle):
        A = T.match_buffer(a, (4,), "float32")
        B = T.match_buffer(b, (4,), "float32")
        for i in range(4):
            with T.sblock("b"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] * k + T.Cast("float32", n)
"""
T4 = {"arange": 4}

# title: (module, calls); every check holds.
HOLDS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "float32 by default": (same("float32"), [call({"tensor": [1, 2, 3, 4]}, equals="x")]),
    "elements given a shape": (
        same("int32", "(2, 2)"),
        [
            call(
                {"tensor": [1, 2, 3, 4], "shape": [2, 2], "dtype": "int32"},
                equals="np.array([[1, 2], [3, 4]], 'int32')",
            )
        ],
    ),
    "nested elements": (
        same("int8", "(2, 2)"),
        [
            call(
                {"tensor": [[1, 2], [3, -4]], "dtype": "int8"},
                equals={"tensor": [[1, 2], [3, -4]], "dtype": "int8"},
            )
        ],
    ),
    "a scalar tensor": (
        same("float64", "()"),
        [call({"tensor": 2.5, "dtype": "float64"}, equals="x")],
    ),
    "full": (
        same("float16"),
        [
            call(
                {"full": 1.5, "shape": [4], "dtype": "float16"}, equals="np.full(4, 1.5, 'float16')"
            )
        ],
    ),
    "arange": (
        same("int64", "(2, 2)"),
        [
            call(
                {"arange": 4, "shape": [2, 2], "dtype": "int64"},
                equals="np.arange(4).reshape(2, 2)",
            )
        ],
    ),
    "arange in a dtype that is not numpy's": (
        same("bfloat16"),
        [call({"arange": 4, "dtype": "bfloat16"}, equals={"arange": 4, "dtype": "bfloat16"})],
    ),
    "bfloat16 against an expression": (
        same("bfloat16"),
        [call({"full": 1.5, "shape": [4], "dtype": "bfloat16"}, equals="x")],
    ),
    "bool": (same("bool"), [call({"random": [4], "dtype": "bool", "seed": 3}, equals="x")]),
    "random has a seed": (
        ADD,
        [
            call({"random": [4], "seed": 1}, {"random": [4], "seed": 1}, equals="x + x"),
            call({"random": [4]}, {"random": [4], "seed": 0}, equals="x + x"),
        ],
    ),
    "random integers": (
        same("uint8"),
        [call({"random": [4], "dtype": "uint8", "seed": 5}, equals="x")],
    ),
    "a shape": (
        OF_SHAPE,
        [call({"shape": [2, 3]}, equals="(2, 3)")],
    ),
    "an earlier result that is a shape": (
        OF_SHAPE,
        [call({"shape": [2, 3]}), call({"result_of": 0}, equals="(2, 3)")],
    ),
    "a tuple": (
        FROM_TUPLE,
        [
            call(
                {"tuple": [{"tensor": [1, 2]}, {"tensor": [3, 4]}]},
                equals="t[0] + t[1]",
            )
        ],
    ),
    "a tuple is given back": (
        PAIR,
        [call({"tensor": [1, 2]}, equals="(x, (x, np.array(7, 'int32')))")],
    ),
    "an earlier result": (
        ADD,
        [
            call({"tensor": [1, 2, 3, 4]}, {"full": 1, "shape": [4]}, equals="x + 1"),
            call({"result_of": 0}, {"result_of": 0}, equals={"tensor": [4, 6, 8, 10]}),
            call({"result_of": 1}, {"result_of": 0}, same_as="input"),
        ],
    ),
    "NaN and infinity": (
        DIVIDE,
        [
            call(
                {"tensor": [0, 1]},
                {"tensor": [0, 0]},
                equals="np.array([np.nan, np.inf], 'float32')",
            )
        ],
    ),
    "integers above 2**53": (
        same("int64", "(1,)"),
        [call({"tensor": [BIG], "dtype": "int64"}, equals={"tensor": [BIG], "dtype": "int64"})],
    ),
    "tolerances": (
        same("float32"),
        [
            call({"tensor": [1, 2, 3, 4]}, equals="x * np.float32(1.01)", rtol=0.1),
            call({"tensor": [0, 0, 0, 0]}, equals="x + np.float32(0.01)", atol=0.1),
        ],
    ),
    "in place, numbers and names of a kernel": (
        KERNEL,
        [
            call(
                T4,
                3,
                0.5,
                {"full": 9, "shape": [4]},
                equals={"B": "A * np.float32(k) + np.float32(n)", "A": {"arange": 4}},
            )
        ],
    ),
    "in place, same as input": (
        KERNEL,
        [call(T4, 3, 0.5, {"full": 9, "shape": [4]}, same_as="input")],
    ),
    "no check": (same("float32"), [call({"tensor": [1, 2, 3, 4]})]),
    "names of numpy in a comprehension": (
        same("float32"),
        [call({"tensor": [1, 2, 3, 4]}, equals="np.array([v for v in x if v < x.max() + 1])")],
    ),
}

# title: (module, calls, what the message says); the last check does not hold.
DIFFERS: dict[str, tuple[str, list[dict[str, Any]], str]] = {
    "one value": (
        same("float32"),
        [call({"tensor": [1, 2, 3, 4]}, equals="x + np.float32(1)")],
        "4 of 4 values differ; the first at \\[0\\]: expected 2.0, came 1.0",
    ),
    "dtype": (
        same("float32"),
        [call({"tensor": [1, 2, 3, 4]}, equals="x.astype('float64')")],
        "expected dtype float64, came float32",
    ),
    "shape": (
        same("float32"),
        [call({"tensor": [1, 2, 3, 4]}, equals="x.reshape(2, 2)")],
        r"expected shape \(2, 2\), came \(4,\)",
    ),
    "a scalar is no tensor": (
        same("float32"),
        [call({"tensor": [1, 1, 1, 1]}, equals="1")],
        "expected",
    ),
    "NaN against a number": (
        DIVIDE,
        [call({"tensor": [0, 1]}, {"tensor": [0, 1]}, equals="x")],
        "expected 0.0, came nan",
    ),
    "integers above 2**53": (
        same("int64", "(1,)"),
        [call({"tensor": [BIG], "dtype": "int64"}, equals={"tensor": [BIG - 1], "dtype": "int64"})],
        "expected 9007199254740992, came 9007199254740993",
    ),
    "bfloat16": (
        same("bfloat16"),
        [call({"full": 1.5, "shape": [4], "dtype": "bfloat16"}, equals="x + x")],
        "expected 3.0, came 1.5",
    ),
    "a field of a tuple": (
        PAIR,
        [call({"tensor": [1, 2]}, equals="(x, (x + np.float32(1), np.array(7, 'int32')))")],
        r"the result\[1\]\[0\]",
    ),
    "a tuple of another length": (
        PAIR,
        [call({"tensor": [1, 2]}, equals="(x,)")],
        "expected a tuple of 1, came a tuple of 2",
    ),
    "a tensor and not a tuple": (
        same("float32"),
        [call({"tensor": [1, 2, 3, 4]}, equals="(x,)")],
        "expected a tuple of 1, came a tensor",
    ),
    "a tuple and not a tensor": (PAIR, [call({"tensor": [1, 2]}, equals="x")], "came a tuple of 2"),
    "what a kernel writes": (
        KERNEL,
        [call(T4, 3, 0.5, {"full": 9, "shape": [4]}, equals={"B": "A"})],
        "B of main",
    ),
    "the second call": (
        same("float32"),
        [
            call({"tensor": [1, 2, 3, 4]}, equals="x"),
            call({"tensor": [1, 2, 3, 5]}, equals={"tensor": [1, 2, 3, 4]}),
        ],
        r"1 of 4 values differ; the first at \[3\]",
    ),
}

# title: (module, calls, error); the call, or its check, cannot be made.
RAISES: dict[str, tuple[str, list[dict[str, Any]], dict[str, Any]]] = {
    "no such function": (
        same("float32"),
        [{"call": "mian", "args": []}],
        {"error": "LookupError", "match": "no function 'mian' to call; the module has main"},
    ),
    "a check that raises": (
        same("float32"),
        [call({"tensor": [1, 2, 3, 4]}, equals="undefined_name + 1")],
        {"error": "NameError", "match": "undefined_name"},
    ),
    "no such parameter": (
        KERNEL,
        [call(T4, 3, 0.5, T4, equals={"C": "A"})],
        {"error": "LookupError", "match": "'C'.*A, n, k, B"},
    ),
    "too few arguments": (ADD, [call(T4)], {"error": "InternalError", "match": "expects 2"}),
    "no such field of an earlier result": (
        PAIR,
        [call({"tensor": [1, 2]}), call({"result_of": 0, "item": 5})],
        {"error": "IndexError"},
    ),
}


@pytest.mark.parametrize("title", HOLDS)
def test_holds(title: str, tmp_path: Path, pool: Pool) -> None:
    module, calls = HOLDS[title]
    report = report_on(make_case(tmp_path, module=module, run=calls), pool)
    assert report.verdict is Verdict.GUARDS, report.judgement.reason


@pytest.mark.parametrize("title", DIFFERS)
def test_differs(title: str, tmp_path: Path, pool: Pool) -> None:
    module, calls, says = DIFFERS[title]
    run = run_once(make_case(tmp_path, module=module, run=calls, expect={"run": "mismatch"}), pool)
    assert faults(run) == ["run: mismatch"], [s.raised for s in run.trace.steps]
    (message,) = (step.mismatch for step in run.trace.steps if step.mismatch)
    assert re.search(says, message), message
    assert [step.mismatch is None for step in run.trace.steps if step.stage.value == "run"] == [
        *[True] * (len(calls) - 1),
        False,
    ]


@pytest.mark.parametrize("title", RAISES)
def test_raises(title: str, tmp_path: Path, pool: Pool) -> None:
    module, calls, error = RAISES[title]
    report = report_on(make_case(tmp_path, module=module, run=calls, expect={"run": error}), pool)
    assert report.verdict is Verdict.REPRODUCES, report.judgement.reason


def test_an_item_of_an_earlier_result(tmp_path: Path, pool: Pool) -> None:
    module = (
        "@I.ir_module\nclass Module:\n"
        "    @R.function\n"
        '    def pair(x: R.Tensor((2,), "float32")):\n'
        "        y = (x, R.add(x, x))\n        return y\n"
        "    @R.function\n"
        '    def main(x: R.Tensor((2,), "float32")):\n'
        "        y = R.add(x, x)\n        return y\n"
    )
    calls = [
        {"call": "pair", "args": [{"tensor": [1, 2]}]},
        call({"result_of": 0, "item": 1}, equals={"tensor": [4, 8]}),
        call({"result_of": 0, "item": 0}, same_as="input"),
    ]
    report = report_on(make_case(tmp_path, module=module, run=calls), pool)
    assert report.verdict is Verdict.GUARDS, report.judgement.reason


def test_a_value_bound_by_a_pass(tmp_path: Path, pool: Pool) -> None:
    seven = {"full": 7, "shape": [4]}
    case = make_case(
        tmp_path,
        module=ADD,
        passes=[{"relax.transform.BindParams": ["main", {"z": seven}]}],
        run=[call(T4, equals="x + np.float32(7)")],
    )
    report = report_on(case, pool)
    assert report.verdict is Verdict.GUARDS, report.judgement.reason


IN_DATAFLOW = """\
with R.dataflow():
    y = R.matmul(x, z)
    R.output(y)
return y"""


@pytest.mark.parametrize("value, expect", [(7, "ok"), (70_000, {"run": "mismatch"})])
def test_same_as_input(value: int, expect: Any, tmp_path: Path, pool: Pool) -> None:
    """A pass that takes it to float16: 7 stays 7, and 70000 does not."""
    tensor = 'R.Tensor((1, 1), "float32")'
    case = make_case(
        tmp_path,
        module=relax(IN_DATAFLOW, f"x: {tensor}, z: {tensor}", tensor),
        passes=["relax.transform.ToMixedPrecision"],
        run=[call({"full": value, "shape": [1, 1]}, {"full": 1, "shape": [1, 1]}, same_as="input")],
        expect=expect,
    )
    report = report_on(case, pool)
    assert report.verdict.passes, report.judgement.reason
