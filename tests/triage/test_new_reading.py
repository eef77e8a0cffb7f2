"""What `new` reads in a script: old names, inputs, checks, passes, and what goes wrong."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import pytest

from harness import compat
from harness.triage.new.draft import Draft, drafted
from harness.triage.new.failure import message_pattern, reported_failure
from harness.triage.new.report import read_report
from harness.triage.new.translate import translated

HEAD = """\
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tir as T

@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3,), "float32")):
        return x

"""


def draft(body: str, head: str = HEAD) -> Draft:
    return drafted(read_report(head + textwrap.dedent(body), "report.py"), "beside")


def keys(body: str, head: str = HEAD) -> dict[str, Any]:
    return draft(body, head).keys


OLD = {
    "tvm.nd.array(x)": "tvm.runtime.tensor(x)",
    "tvm.nd.NDArray": "tvm.runtime.Tensor",
    "tvm.tir.Schedule(m)": "tvm.s_tir.Schedule(m)",
    "tvm.tir.transform.LowerOpaqueBlock()": "tvm.s_tir.transform.LowerOpaqueBlock()",
    "tvm.tir.transform.StorageRewrite()": "tvm.tirx.transform.StorageRewrite()",
    "tvm.tir.Var('n', 'int64')": "tvm.tirx.Var('n', 'int64')",
    "tvm.dlight.gpu.GEMV()": "tvm.s_tir.dlight.gpu.GEMV()",
    "relax.transform.VMBuiltinLower()": "relax.transform.LowerRuntimeBuiltin()",
    "relax.TensorStructInfo((2,), 'int8')": "relax.TensorType((2,), 'int8')",
    "R.call_tir(f, (x,), out_sinfo=R.Tensor((2,)))": "R.call_tir(f, (x,), R.Tensor((2,)))",
    "R.call_packed('f', x, sinfo_args=(R.Object,))": "R.call_packed('f', x, ty_args=(R.Any,))",
    "R.call_tir_inplace(f, (x,), [0], out_sinfo=t)": "R.call_tir_inplace(f, (x,), [0], out_ty=t)",
    "x.asnumpy()": "x.numpy()",
    "v.struct_info": "v.ty",
    "T.block('b')": "T.sblock('b')",
    "T.Buffer[(2,), 'int8']": "T.Buffer((2,), 'int8')",
    "'tvm.nd.array(x)'": "'tvm.nd.array(x)'",
    "mine.nd.array(x, out_sinfo=1)": "mine.nd.array(x, out_sinfo=1)",
}


@pytest.mark.parametrize("old", OLD)
def test_old_names(old: str) -> None:
    imports = "import tvm\nfrom tvm import relax\nfrom tvm.script import relax as R, tirx as T\n"
    new, changes = translated(imports + old)
    assert new == imports + OLD[old]
    assert bool(changes) == (old != OLD[old])
    assert all(change.line == 4 for change in changes)


def test_prim_funcs_with_blocks_say_so() -> None:
    text = textwrap.dedent("""
        from tvm.script import tir as T

        @T.prim_func(private=True)
        def f(a: T.Buffer((4,), "float32")):
            T.func_attr({"tir.noalias": T.bool(True)})
            b = T.alloc_buffer((4,))
            with T.block("x"):  # T.block
                a[0] = b[0]

        @T.prim_func
        def g(a: T.Buffer((4,), "float32")):
            b = T.alloc_buffer((4,))
    """)
    new, _ = translated(text)
    assert "@T.prim_func(s_tir=True, private=True)\ndef f" in new
    assert "@T.prim_func\ndef g" in new
    assert 'T.func_attr({"tirx.noalias": True})' in new
    assert new.count("T.sblock_alloc_buffer") == new.count("T.alloc_buffer") == 1
    assert 'T.sblock("x"):  # T.block' in new
    assert translated(new) == (new, ())


def test_the_names_of_today_are_there() -> None:
    names = {new for _, new in compat._MOVED}
    names |= {f"tvm.s_tir.transform.{name}" for name in compat._S_TIR_TRANSFORM}
    names |= {f"tvm.s_tir.{name}" for name in compat._S_TIR}
    config = [compat.todays_config(f"tir.{name}") for name in compat._S_TIR_CONFIG]
    script = (
        "import functools, importlib.util, sys, tvm\n"
        "for name in sys.argv[1].split():\n"
        "    try: functools.reduce(getattr, name.split('.')[1:], tvm)\n"
        "    except AttributeError:\n"
        "        if not importlib.util.find_spec(name): print(name)\n"
        "there = tvm.transform.PassContext.list_configs()\n"
        "print(*[key for key in sys.argv[2].split() if key not in there])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, " ".join(sorted(names)), " ".join(config)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.split() == []


INPUTS = {
    "np.ones((2, 3), dtype='float32')": {"full": 1.0, "shape": [2, 3], "dtype": "float32"},
    "np.arange(6).reshape(2, 3).astype(np.float32)": {
        "arange": 6,
        "dtype": "float32",
        "shape": [2, 3],
    },
    "np.random.uniform(size=(2, 3)).astype('float32')": {"random": [2, 3], "dtype": "float32"},
    "np.random.default_rng(3).standard_normal((2, 3))": {"random": [2, 3], "dtype": "float64"},
    "2 * np.random.randn(N, 3).astype('float32') - 1": {"random": [2, 3], "dtype": "float32"},
    "np.array([[1, -np.inf, 2]] * N, 'float32')": {
        "tensor": [[1.0, float("-inf"), 2.0]] * 2,
        "dtype": "float32",
    },
    "-np.linspace(0, 1, 3, dtype='float32')": {"tensor": [-0.0, -0.5, -1.0], "dtype": "float32"},
}


@pytest.mark.parametrize("given", INPUTS)
def test_inputs(given: str) -> None:
    found = keys(f"""
        N = 2
        vm = relax.VirtualMachine(relax.build(M), tvm.cpu())
        vm["main"](tvm.nd.array({given}), 7, (1, True))
    """)
    assert found["run"] == [{"call": "main", "args": [INPUTS[given], 7, {"tuple": [1, True]}]}]


CHECKS = {
    "np.testing.assert_allclose(out.numpy(), a + b, rtol=1e-3)": {
        "equals": "x + y",
        "rtol": 1e-3,
    },
    "tvm.testing.assert_allclose(np.maximum(a, c), out.numpy())": {
        "equals": "np.maximum(x, np.full(3, 0.5))",
    },
    "assert np.allclose(out.numpy(), a @ b.T)": {"equals": "x @ y.T"},
    "assert np.array_equal(out.numpy(), a)": {"equals": "x", "rtol": 0.0, "atol": 0.0},
    "np.testing.assert_allclose(out.numpy(), run(M))": {"same_as": "input"},
    "np.testing.assert_allclose(out.numpy(), other(a))": {},
}


@pytest.mark.parametrize("check", CHECKS)
def test_checks(check: str) -> None:
    made = draft(f"""
        from elsewhere import other
        def run(mod):
            vm = relax.VirtualMachine(relax.build(mod), tvm.cpu())
            return vm["main"](tvm.nd.array(a), tvm.nd.array(b)).numpy()
        a = np.random.rand(2, 3).astype("float32")
        b = np.random.rand(3).astype("float32")
        c = np.full(3, 0.5)
        after = relax.transform.LegalizeOps()(M)
        vm = relax.VirtualMachine(relax.build(after), tvm.cpu())
        out = vm["main"](tvm.nd.array(a), tvm.nd.array(b))
        {check}
    """)
    (call,) = made.keys["run"]
    assert {key: call[key] for key in call if key not in ("call", "args")} == CHECKS[check]
    assert made.keys["passes"] == ["relax.transform.LegalizeOps"]
    assert any("equals" in one for one in made.remarks.get("run", [])) == (not CHECKS[check])


def test_prim_funcs_write_in_place() -> None:
    found = keys("""
        @T.prim_func
        def double(p: T.handle, B: T.Buffer((4,), "float32")):
            A = T.match_buffer(p, (4,))
            for i in range(4):
                B[i] = A[i] * T.float32(2)

        f = tvm.compile(double, target="llvm")
        a = tvm.nd.array(np.arange(4).astype("float32"))
        b = tvm.nd.array(np.zeros(4, "float32"))
        f(a, b)
        np.testing.assert_allclose(b.numpy(), a.numpy() * 2)
    """)
    assert found["run"][0]["equals"] == {"B": "A * 2"}
    assert found["run"][0]["call"] == "double"
    assert "build" not in found


def test_how_it_is_built() -> None:
    found = keys("""
        target = tvm.target.Target({"kind": "llvm", "mcpu": "core-avx2"})
        with tvm.transform.PassContext(opt_level=1, config={"tir.disable_vectorize": True}):
            with target:
                mod = tvm.tir.transform.BindTarget(target)(M)
            ex = relax.build(
                mod, target, exec_mode="compiled", relax_pipeline=relax.get_default_pipeline(target)
            )
    """)
    kind = {"kind": "llvm", "mcpu": "core-avx2"}
    new = {"new": "target.Target", "args": [kind]}
    assert found["passes"] == [
        {"tirx.transform.BindTarget": {"args": [new], "under": {"target": kind}}}
    ]
    assert found["build"] == {
        "opt_level": 1,
        "config": {"tirx.disable_vectorize": True},
        "target": kind,
        "pipeline": "target",
        "exec_mode": "compiled",
    }


def test_what_a_case_has_no_words_for_goes_into_python() -> None:
    made = draft("""
        from tvm.relax.dpl import wildcard, is_op
        helper = 3
        unused = helper + 1
        pattern = is_op("relax.add")(wildcard(), wildcard())
        mod = relax.transform.LegalizeOps()(M)
        mod = relax.transform.FuseOpsByPattern([("x.add", pattern)])(mod)
        tvm.ir.assert_structural_equal(mod, M)
        mod.show()
        relax.build(mod)
    """)
    assert made.keys["passes"] == [
        "relax.transform.LegalizeOps",
        {"python": "beside.py:line_18"},
        {"python": "beside.py:line_19"},
    ]
    assert "    pattern = is_op" in made.beside
    assert 'return relax.transform.FuseOpsByPattern([("x.add", pattern)])(mod)' in (
        made.beside.replace("'", '"')
    )
    assert "    tvm.ir.assert_structural_equal(mod, M)\n    return mod" in made.beside
    assert "@I.ir_module(check_well_formed=False)" in made.beside
    assert "unused" not in made.beside
    assert made.missing == []


def test_round_trips() -> None:
    assert keys("tvm.script.from_source(M.script())")["after"] == [{"roundtrip": "script"}]
    assert keys("tvm.ir.load_json(tvm.ir.save_json(M))")["after"] == [{"roundtrip": "json"}]


def test_a_module_of_a_function_with_arguments() -> None:
    found = keys("""
        def get(n, dtype="float16"):
            @I.ir_module
            class Inner:
                @R.function
                def main(x: R.Tensor((n,), dtype)):
                    return x
            return Inner

        def test_it():
            for p in [relax.transform.LegalizeOps(), relax.transform.FuseTIR()]:
                mod = p(get(16))
            relax.build(mod)
    """)
    assert "R.Tensor((16,), 'float16')" in found["module"]
    assert found["module"].startswith("@I.ir_module\nclass Inner:")
    assert found["passes"] == ["relax.transform.FuseTIR"]


SAID = {
    "Segmentation fault (core dumped)": "crash SIGSEGV",
    "compilation hangs for ever": "hang",
    "terminate called after throwing an instance of 'std::bad_alloc'": "crash SIGABRT",
    "the outputs do not match": "mismatch",
    "tvm.error.InternalError: Check failed: (a) is false: b": "error InternalError: Check failed: "
    "(a) is false: b",
    "all is well": "None",
}


@pytest.mark.parametrize("text", SAID)
def test_what_is_said_to_go_wrong(text: str) -> None:
    assert str(reported_failure(read_report(f"# Title\n\n```\n{text}\n```\n"))) == SAID[text]


def test_patterns_of_messages() -> None:
    pattern = message_pattern
    assert pattern("Check failed: (it != end()) is false: ") == r"it != end\(\)"
    assert pattern("Check failed: x == y (3 vs. 4) : bad x at 0x7f12 of 12") == r"bad x at\s*\S+ of"
    assert pattern("") == pattern("12 34") == ""
