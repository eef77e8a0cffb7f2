"""What moves make of a module's text, without TVM."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from harness.run.trace import Stage
from harness.triage.reduce.edit import GONE, Edit, applied, merged
from harness.triage.reduce.goal import Goal
from harness.triage.reduce.moves import Move, moves
from harness.triage.reduce.program import Program, weight
from harness.triage.reduce.script import parsed
from harness.triage.reduce.values import spelt, types_of, zero
from harness.verdict.signature import Signature

TENSOR = 'R.Tensor((4,), "float32")'
MODULE = f"""
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def kernel(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i] + T.float32(1)

    @R.function
    def inner(x: {TENSOR}, unused: {TENSOR}) -> {TENSOR}:
        with R.dataflow():
            y = R.call_tir(Module.kernel, (x,), {TENSOR})
            R.output(y)
        return y

    @R.function
    def main(x: {TENSOR}, p: R.Tuple({TENSOR}, R.Tuple({TENSOR}, {TENSOR}))) -> {TENSOR}:
        with R.dataflow():
            a: {TENSOR} = R.add(x, x)
            b: {TENSOR} = Module.inner(a, x)
            q = p[1]
            c: {TENSOR} = R.multiply(b, q[1])
            R.output(a, c)
        return c
"""
ARGS = [
    {"arange": 4},
    {"tuple": [{"full": 1, "shape": [4]}, {"tuple": [{"tensor": [1, 2, 3, 4]}]}]},
]
PROGRAM = Program(
    ast.unparse(ast.parse(MODULE)) + "\n",
    {"passes": ["one", "two", "three"], "run": [{"call": "main", "args": ARGS}]},
)


def made(name: str, which: int | None = None, program: Program = PROGRAM) -> Program:
    """The program after a move at one place, or at all of them."""
    move = named(name)
    slots = move.slots(program, types_of(program.module))
    chosen = [slot[0] for slot in slots] if which is None else [slots[which][0]]
    result = applied(program, merged(chosen))
    assert result is not None, f"{name} came to nothing"
    return result


def named(name: str) -> Move:
    return next(one for one in moves(frozenset()) if one.name == name)


def main_of(program: Program) -> str:
    function = parsed(program.module).function("main")
    assert function is not None
    return ast.unparse(function.node)


def test_a_statement_goes_and_its_operand_stands_for_it() -> None:
    text = main_of(made("statements", 0))
    assert "return b" in text and "R.output(a, b)" in text and "multiply" not in text


def test_what_stood_for_a_value_may_go_as_well() -> None:
    text = main_of(made("statements"))
    assert "return x" in text and "dataflow" not in text


def test_a_function_goes_with_its_calls() -> None:
    small = made("functions", 1)
    assert "inner" not in small.module
    assert "R.multiply(a, q[1])" in main_of(small), "the operand of its type"


def test_a_function_that_is_run_goes_with_the_run() -> None:
    assert "run" not in made("functions", 2).data


def test_a_parameter_goes_with_its_arguments() -> None:
    slots = named("parameters").slots(PROGRAM, types_of(PROGRAM.module))
    small = [applied(PROGRAM, slot[0]) for slot in slots]
    assert any(one is not None and "Module.inner(a)" in one.module for one in small)
    assert any(one is not None and len(one.data["run"][0]["args"]) == 1 for one in small)


def test_a_field_goes_and_those_behind_it_move_up() -> None:
    first = made("fields", 0)
    assert "q = p[0]" in first.module and len(first.data["run"][0]["args"][1]["tuple"]) == 1
    inner = made("fields", 2)
    assert "q[0]" in inner.module and "q = p[1]" in inner.module


@pytest.mark.parametrize(
    ("written", "spelt_out"),
    [
        ('R.Tensor((4,), dtype="float32")', "R.Tensor((4,), 'float32')"),
        ('R.Tensor((4,), "float32")', "R.Tensor((4,), 'float32')"),
        ('R.Tensor(ndim=2, dtype="float32")', "R.Tensor(dtype='float32', ndim=2)"),
        ('R.Tensor((4,), vdevice="llvm", dtype="int8")', "R.Tensor((4,), 'int8', vdevice='llvm')"),
        ("R.Tuple(R.Shape([n]), R.Any)", "R.Tuple(R.Shape([n]), R.Any)"),
    ],
)
def test_a_type_has_one_spelling_and_that_is_python(written: str, spelt_out: str) -> None:
    assert spelt(ast.parse(written, mode="eval").body) == spelt_out
    zero(spelt_out)


def test_a_shape_is_the_same_everywhere() -> None:
    small = made("shapes", 0)
    assert "4" not in small.module.replace("float32", "")
    first, second = small.data["run"][0]["args"]
    assert first == {"arange": 1}
    assert second == {"tuple": [{"full": 1, "shape": [1]}, {"tuple": [{"tensor": [1]}]}]}


def test_names_of_functions_that_are_expected_stay() -> None:
    slots = moves(frozenset({"main", "inner"}))[-1].slots(PROGRAM, {})
    small = applied(PROGRAM, merged(slot[0] for slot in slots))
    assert small is not None
    assert "kernel" not in small.module and "Module.inner" in small.module


def test_paths_are_those_before_the_change() -> None:
    gone = merged(Edit(data={("passes", index): GONE}) for index in (0, 1))
    small = applied(PROGRAM, gone)
    assert small is not None and small.data["passes"] == ["three"]


def test_a_name_without_a_value_is_refused_without_a_run() -> None:
    (binding, *_) = parsed(PROGRAM.module).functions[2].bindings()
    assert applied(PROGRAM, Edit({binding[0]: None})) is None


def test_a_module_without_functions_is_refused() -> None:
    functions = {one.node: None for one in parsed(PROGRAM.module).functions}
    assert applied(PROGRAM, Edit(functions)) is None


def test_no_move_changes_the_program_it_is_made_of() -> None:
    before = ast.dump(parsed(PROGRAM.module).tree)
    for move in moves(frozenset()):
        for slot in move.slots(PROGRAM, types_of(PROGRAM.module)):
            for edit in slot:
                applied(PROGRAM, edit)
    assert ast.dump(parsed(PROGRAM.module).tree) == before


def test_every_candidate_is_python_and_most_are_smaller() -> None:
    smaller = 0
    for move in moves(frozenset()):
        for slot in move.slots(PROGRAM, types_of(PROGRAM.module)):
            for program in filter(None, (applied(PROGRAM, edit) for edit in slot)):
                ast.parse(program.module)
                smaller += weight(program) < weight(PROGRAM)
    assert smaller > 100


@pytest.mark.parametrize(
    ("stage", "failure", "frames", "careful"),
    [
        (Stage.RUN, "mismatch", (), True),
        (Stage.RUN, "SIGSEGV", (), True),
        (Stage.PASS, "SIGFPE", ("__call__",), True),
        (Stage.PASS, "SIGSEGV", ("tvm::relax::Fuse",), False),
        (Stage.RUN, "InternalError", (), False),
        (Stage.LOAD, "SIGSEGV", ("buffer_store",), False),
    ],
)
def test_kernels_are_left_alone_where_the_fault_may_be_theirs(
    stage: Stage, failure: str, frames: tuple[str, ...], careful: bool
) -> None:
    goal = Goal(Signature(stage, "", failure, "", frames), 1.0)
    assert goal.careful(PROGRAM) is careful


def test_what_kernels_only_modules_read_is_given(program: Any = None) -> None:
    kernel = parsed(PROGRAM.module).functions[0]
    alone = Program(ast.unparse(kernel.node) + "\n", {})
    assert not Goal(Signature(Stage.RUN, "", "mismatch", ""), 1.0).careful(alone)
