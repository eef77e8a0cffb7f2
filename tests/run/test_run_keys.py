"""The keys of a case that steer passes, build and run: each has its effect on real TVM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from runs import faults, make_case, report_on, run_once, write_case

from harness import campaign
from harness.run.pool import Pool
from harness.run.trace import Stage
from harness.verdict.outcome import NotApplicable, NotReached, Ok, Skipped
from harness.verdict.word import Verdict
from harness.verdict.words import message

ADD = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            y = R.add(x, R.const(1, "float32"))
            z = R.multiply(y, y)
            R.output(z)
        return z
"""
RUN = [{"call": "main", "args": [{"arange": 4}], "equals": "(x + np.float32(1)) ** 2"}]
KERNEL = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("b"):
                vi = T.axis.spatial(4, i)
                b[vi] = a[vi] + T.float32(1)
"""
RUN_KERNEL = [
    {"call": "main", "args": [{"arange": 4}, {"full": 0, "shape": [4]}], "equals": {"b": "a + 1"}}
]
LEGALIZE, FUSE = "relax.transform.LegalizeOps", "relax.transform.FuseOps"
LOWERING = [
    LEGALIZE,
    "relax.transform.CallTIRRewrite",
    "relax.transform.LowerAllocTensor",
    "relax.transform.KillAfterLastUse",
    "relax.transform.LowerRuntimeBuiltin",
    "relax.transform.ComputePrimValue",
    "relax.transform.VMShapeLower",
    "relax.transform.AttachGlobalSymbol",
]
LOWERING_ALL = [
    "relax.transform.ToNonDataflow",
    "relax.transform.RemovePurityChecking",
    *LOWERING,
]


def outcomes(run: Any) -> dict[str, Any]:
    return {result.stage.value: result.outcome for result in run.stages}


BUILDS: dict[str, dict[str, Any]] = {
    "default": {},
    "relax.build": {"with": "relax.build"},
    "tvm.compile": {"with": "tvm.compile"},
    "target pipeline": {"pipeline": "target"},
    "a list of passes": {"pipeline": LOWERING_ALL},
    "target as text": {"target": "llvm"},
    "target as a mapping": {"target": {"kind": "llvm", "mcpu": "x86-64"}},
    "compiled": {"exec_mode": "compiled"},
    "opt_level": {"opt_level": 0},
    "opt_level and the target's pipeline": {"opt_level": 3, "pipeline": "target"},
    "disabled_pass": {"disabled_pass": ["StaticPlanBlockMemory"]},
    "required_pass": {"required_pass": ["relax.FoldConstant"]},
    "config": {"config": {"tirx.disable_vectorize": True}},
}


@pytest.mark.parametrize("title", BUILDS)
def test_relax_builds(title: str, tmp_path: Path, pool: Pool) -> None:
    report = report_on(make_case(tmp_path, module=ADD, build=BUILDS[title], run=RUN), pool)
    assert report.verdict is Verdict.GUARDS, report.judgement.reason


@pytest.mark.parametrize("with_", ["auto", "tvm.compile", "tirx.build"])
def test_kernel_builds(with_: str, tmp_path: Path, pool: Pool) -> None:
    case = make_case(tmp_path, module=KERNEL, build={"with": with_}, run=RUN_KERNEL)
    run = run_once(case, pool)
    assert faults(run) == [], run.trace
    assert outcomes(run)["vm"] == NotApplicable()


def test_a_module_that_is_lowered_already(tmp_path: Path, pool: Pool) -> None:
    """`none` builds it as it is; the unlowered one it cannot."""
    case = make_case(tmp_path, module=ADD, passes=LOWERING_ALL, build={"pipeline": "none"}, run=RUN)
    assert faults(run_once(case, pool)) == []
    case = make_case(tmp_path, module=ADD, build={"pipeline": "none"}, run=RUN)
    assert faults(run_once(case, pool)) == ["build: error InternalError"]


BAD_BUILDS: dict[str, tuple[dict[str, Any], str]] = {
    "no such target": ({"target": "lvm"}, "build"),
    "no such config": ({"config": {"no.such.key": 1}}, "build"),
    "no such pass in the pipeline": ({"pipeline": ["relax.transform.LegalizeOp"]}, "load"),
    "pass raises in the pipeline": (
        {"pipeline": [{"relax.transform.BindParams": ["main", {"nope": {"tensor": [1]}}]}]},
        "build",
    ),
}


@pytest.mark.parametrize("title", BAD_BUILDS)
def test_builds_that_cannot_be(title: str, tmp_path: Path, pool: Pool) -> None:
    build, stage = BAD_BUILDS[title]
    run = run_once(make_case(tmp_path, module=ADD, build=build, run=RUN), pool)
    assert [fault.split()[:2] for fault in faults(run)] == [[f"{stage}:", "error"]]
    assert outcomes(run)["run"] == NotReached()


def test_build_keys_reach_the_context(tmp_path: Path, pool: Pool) -> None:
    """opt_level, disabled_pass, required_pass and config, as a pass that runs under them sees."""
    write_case(tmp_path, "context")
    (tmp_path / "repros" / "context.yaml").write_text(
        "title: t\nmodule: {python: look.py:make}\n"
        "passes: [look_at_context]\n"
        "build: {opt_level: 1, disabled_pass: [A], required_pass: [B], "
        "config: {tirx.disable_vectorize: true}}\n"
        "expect: {pass: {error: RuntimeError, match: "
        "'level 1, disabled .*A.*, required .*B.*, config .*disable_vectorize'}}\n"
    )
    (tmp_path / "repros" / "look.py").write_text(
        "import tvm\n"
        "def look(module, context):\n"
        "    raise RuntimeError(f'level {context.opt_level}, disabled {context.disabled_pass}, '\n"
        "        f'required {context.required_pass}, config {context.config}')\n"
        "def make():\n"
        "    tvm.look_at_context = lambda: tvm.transform.module_pass(look, opt_level=0, name='l')\n"
        "    return tvm.IRModule()\n"
    )
    case = campaign.read_case(tmp_path / "repros" / "context.yaml")
    report = report_on(case, pool)
    assert report.verdict is Verdict.REPRODUCES, report.judgement.reason


def test_build_false(tmp_path: Path, pool: Pool) -> None:
    run = run_once(make_case(tmp_path, module=ADD, passes=[LEGALIZE], build=False), pool)
    seen = outcomes(run)
    assert [seen[s] for s in ("build", "vm", "run")] == [Skipped()] * 3
    assert [seen[s] for s in ("pass", "well_formed", "exit")] == [Ok()] * 3


def test_no_run(tmp_path: Path, pool: Pool) -> None:
    seen = outcomes(run_once(make_case(tmp_path, module=ADD), pool))
    assert (seen["vm"], seen["run"], seen["pass"]) == (Ok(), Skipped(), NotApplicable())


PASSES: dict[str, list[Any]] = {
    "by name": [LEGALIZE],
    "by keyword": [LEGALIZE, "relax.transform.AnnotateTIROpPattern", {FUSE: {"fuse_opt_level": 1}}],
    "by position": [LEGALIZE, "relax.transform.AnnotateTIROpPattern", {FUSE: [1]}],
    "no arguments": [{LEGALIZE: {}}, {"relax.transform.FoldConstant": []}],
}


@pytest.mark.parametrize("title", PASSES)
def test_passes(title: str, tmp_path: Path, pool: Pool) -> None:
    report = report_on(make_case(tmp_path, module=ADD, passes=PASSES[title], run=RUN), pool)
    assert report.verdict is Verdict.GUARDS, report.judgement.reason


TELLING = """
import tvm

def takes(*args, **keywords):
    def tell(module, context):
        target = tvm.target.Target.current(allow_none=True)
        raise RuntimeError(f"{args} {keywords} {target and target.kind.name}")
    return tvm.transform.module_pass(tell, opt_level=0, name="tell")

class Rule:
    def __init__(self, *args, **keywords):
        self.given = args, keywords
    def __repr__(self):
        return f"Rule{self.given}"

def make():
    tvm.telling = type("telling", (), {"takes": staticmethod(takes), "Rule": Rule})
    return tvm.IRModule()
"""
GIVEN: list[tuple[Any, str]] = [
    ([1, 2.5, True, None, "text"], "(1, 2.5, True, None, 'text') {} None"),
    ({"a": [1, [2]], "b": {"c": 3}}, "() {'a': [1, [2]], 'b': {'c': 3}} None"),
    ([{"new": "telling.Rule"}], "(Rule((), {}),) {} None"),
    (
        {
            "rules": [
                {"new": "telling.Rule", "args": [1]},
                {"new": "telling.Rule", "args": {"k": 2}},
            ]
        },
        "() {'rules': [Rule((1,), {}), Rule((), {'k': 2})]} None",
    ),
    (
        [{"new": "telling.Rule", "args": [{"new": "telling.Rule"}]}],
        "(Rule((Rule((), {}),), {}),) {} None",
    ),
    ({"under": {"target": "llvm"}}, "() {} llvm"),
    ({"a": 1, "under": {"target": {"kind": "llvm", "mcpu": "x86-64"}}}, "() {'a': 1} llvm"),
    ({"a": 1, "under": {"target": "cuda"}}, "() {'a': 1} cuda"),
]


@pytest.mark.parametrize("given, said", GIVEN)
def test_pass_arguments(given: Any, said: str, tmp_path: Path, pool: Pool) -> None:
    write_case(
        tmp_path,
        "telling",
        module={"python": "telling.py:make"},
        passes=[{"telling.takes": given}],
        expect={"pass": {"error": "RuntimeError"}},
    )
    (tmp_path / "repros" / "telling.py").write_text(TELLING)
    run = run_once(campaign.read_case(tmp_path / "repros" / "telling.yaml"), pool)
    (raised,) = (step.raised for step in run.trace.steps if step.raised)
    assert raised.message.splitlines()[-1].endswith(said), raised.message


def test_a_schedule_rule_without_a_target(tmp_path: Path, pool: Pool) -> None:
    """A real one: dlight wants a target in scope."""
    rule = {"new": "s_tir.dlight.gpu.Fallback"}
    passes: list[Any] = [LEGALIZE, {"s_tir.dlight.ApplyDefaultSchedule": [rule]}]
    run = run_once(make_case(tmp_path, module=ADD, passes=passes, build=False), pool)
    assert faults(run) and faults(run)[0].startswith("pass: error")


MISSING = {
    "relax.transform.LegalizeOp": "LegalizeOps",
    "relax.trnsform.LegalizeOps": "transform",
    "nowhere.at.all": "tvm has no 'nowhere'",
    "relax.transform": "is a module, not a pass",
}


@pytest.mark.parametrize("name", MISSING)
def test_a_pass_that_does_not_exist(name: str, tmp_path: Path, pool: Pool) -> None:
    report = report_on(make_case(tmp_path, module=ADD, passes=[LEGALIZE, name]), pool)
    assert report.verdict is Verdict.UNRUNNABLE
    assert MISSING[name] in report.judgement.reason
    # Nor is it green for a case that says so.
    expect = {"load": {"error": "LookupError"}}
    case = make_case(tmp_path, module=ADD, passes=[LEGALIZE, name], expect=expect)
    assert report_on(case, pool).verdict is Verdict.UNRUNNABLE
    assert MISSING[name] in report.judgement.reason
    assert "input" not in {step.stage.value for step in report.judgement.arms["stock"].trace.steps}


def test_an_argument_that_does_not_exist(tmp_path: Path, pool: Pool) -> None:
    passes = [{"relax.transform.LegalizeOps": [{"new": "relax.no_such_thing"}]}]
    report = report_on(make_case(tmp_path, module=ADD, passes=passes), pool)
    assert (report.verdict, "no_such_thing" in report.judgement.reason) == (
        Verdict.UNRUNNABLE,
        True,
    )


def test_a_pass_that_returns_something_else(tmp_path: Path, pool: Pool) -> None:
    case = make_case(tmp_path, module=ADD, passes=["runtime.convert"])
    assert [fault.split()[0] for fault in faults(run_once(case, pool))] == ["pass:"]


def test_after(tmp_path: Path, pool: Pool) -> None:
    checks = [{"contains": "R.call_tir"}, {"lacks": "R.multiply"}]
    case = make_case(tmp_path, module=ADD, passes=[LEGALIZE], after=checks, run=RUN)
    assert report_on(case, pool).verdict is Verdict.GUARDS
    for check in ({"contains": "R.multiply"}, {"lacks": "R.call_tir"}):
        keys = {"module": ADD, "passes": [LEGALIZE], "after": [checks[0], check], "run": RUN}
        case = make_case(tmp_path, **keys, expect={"pass": "mismatch"})
        report = report_on(case, pool)
        assert report.verdict is Verdict.REPRODUCES, report.judgement.reason
        assert outcomes(report.judgement.arms["stock"].telling)["run"] == Ok(), "it goes on"


def test_contrasts(tmp_path: Path, pool: Pool) -> None:
    """With everything overridden; all are run and judged, and a failing one decides."""
    contrasts: list[Any] = [
        {"title": "kernel", "module": KERNEL, "run": RUN_KERNEL, "expect": "ok"},
        {"title": "no build", "build": False, "expect": "ok"},
        {"title": "wrong value", "run": [{**RUN[0], "equals": "x"}], "expect": {"run": "mismatch"}},
        {"title": "other pass", "passes": [LEGALIZE], "expect": "ok"},
        {"title": "elsewhere", "tvm": "<0.1", "expect": {"run": "hang"}},
    ]
    report = report_on(make_case(tmp_path, module=ADD, run=RUN, contrasts=contrasts), pool)
    assert report.verdict is Verdict.GUARDS, report.judgement.reason
    words = {title: one.verdict.value for title, one in report.judgement.contrasts.items()}
    assert words == {
        "kernel": "guards",
        "no build": "guards",
        "wrong value": "reproduces",
        "other pass": "guards",
        "elsewhere": "skipped",
    }
    contrasts[1]["expect"] = {"input": {"error": "ValueError"}}
    report = report_on(make_case(tmp_path, module=ADD, run=RUN, contrasts=contrasts), pool)
    assert report.verdict is Verdict.FIXED_UPSTREAM
    assert "no build" in report.judgement.reason


def test_requires(tmp_path: Path, pool: Pool) -> None:
    case = make_case(tmp_path, module=ADD, requires=["json", "no_such_module.at_all"])
    report = report_on(case, pool)
    assert report.verdict is Verdict.SKIPPED
    assert "no_such_module.at_all" in report.judgement.reason
    case = make_case(tmp_path, module=ADD, requires=["json", "numpy.linalg"])
    assert report_on(case, pool).verdict is Verdict.GUARDS


def test_versions(tmp_path: Path, pool: Pool) -> None:
    assert pool.info is not None
    case = make_case(tmp_path, module=ADD, tvm=f"!={pool.info.tvm}")
    assert report_on(case, pool).verdict is Verdict.SKIPPED
    expect = [{"tvm": "<0.1", "run": "hang"}, {"ffi": "<0.1", "run": "hang"}, {"tvm": ">=0.25"}]
    expect[2]["stock"] = "ok"
    case = make_case(tmp_path, module=ADD, expect=expect)
    assert report_on(case, pool).verdict is Verdict.GUARDS
    case = make_case(tmp_path, module=ADD, expect=expect[:2])
    assert report_on(case, pool).verdict is Verdict.SKIPPED


LAZY = """
import os, time
import tvm
from pathlib import Path
HERE = Path(__file__).parent

def now_and_then():
    mark = HERE / "seen"
    if mark.exists():
        mark.unlink()
        return tvm.IRModule()
    mark.touch()
    raise ValueError("this time not")

def naps():
    time.sleep(0.4)
    return tvm.IRModule()

def eats():
    held = bytearray(900 << 20)
    return tvm.IRModule()
"""


def lazy(folder: Path, function: str, **keys: Any) -> Any:
    write_case(folder, "lazy", module={"python": f"lazy.py:{function}"}, **keys)
    (folder / "repros" / "lazy.py").write_text(LAZY)
    return campaign.read_case(folder / "repros" / "lazy.yaml")


def test_limits(tmp_path: Path, pool: Pool) -> None:
    assert faults(run_once(lazy(tmp_path, "naps", limits={"seconds": 0.2}), pool)) == ["load: hang"]
    assert faults(run_once(lazy(tmp_path, "naps", limits={"seconds": 20}), pool)) == []
    tight = lazy(tmp_path, "eats", limits={"memory_mb": 900})
    assert faults(run_once(tight, pool)) == ["load: oom"]
    assert faults(run_once(lazy(tmp_path, "eats", limits={"memory_mb": 3000}), pool)) == []


def test_repeat(tmp_path: Path, pool: Pool) -> None:
    case = make_case(tmp_path, module=ADD, run=RUN, repeat=3)
    report = report_on(case, pool)
    assert len(report.judgement.arms["stock"].runs) == 3
    assert report.verdict is Verdict.GUARDS


VARIES = {
    "module": """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(x: T.Buffer((1,), "int32")):
        for i in range(1):
            with T.sblock("b"):
                vi = T.axis.spatial(1, i)
                x[vi] = T.call_extern("int32", "getpid") % 2
""",
    "run": [
        {
            "call": "main",
            "args": [{"tensor": [0], "dtype": "int32"}],
            "equals": {"x": {"tensor": [0], "dtype": "int32"}},
        }
    ],
    "repeat": 24,
}


def test_repeats_that_disagree(tmp_path: Path, pool: Pool) -> None:
    """Whether the process id is even varies from child to child."""
    report = report_on(make_case(tmp_path, **VARIES), pool)
    assert report.verdict is Verdict.FLAKY, report.judgement.reason
    expect = {"run": {"one_of": ["ok", "mismatch"]}}
    report = report_on(make_case(tmp_path, **VARIES, expect=expect), pool)
    assert report.verdict is Verdict.REPRODUCES, report.judgement.reason


BESIDE = """
import tvm
from tvm import relax


def make(size, dtype="float32"):
    return tvm.script.from_source(f'''
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(({size},), "{dtype}")):
        return R.negative(x)
''')


def rename(module, old="main", new="other"):
    return tvm.IRModule({new: module[old].with_attr("global_symbol", new)})


def fail(module):
    raise ZeroDivisionError("on purpose")


def none(module):
    return None


def leave_free(module):
    x = module["main"].params[0]
    free = relax.Var("free", x.ty if hasattr(x, "ty") else x.struct_info)
    return tvm.IRModule({"main": relax.Function([], free)})
"""


def beside(folder: Path, *functions: Any, **keys: Any) -> Any:
    """A case whose module comes from a file beside it, and so do its passes."""
    folder.joinpath("repros").mkdir()
    folder.joinpath("repros", "beside.py").write_text(BESIDE)
    passes = [
        {"python": f"beside.py:{one}"} if isinstance(one, str) and "." not in one else one
        for one in functions
    ]
    path = write_case(folder, passes=passes, **keys)
    text = path.read_text().replace("MODULE", "{python: 'beside.py:make', args: [3]}")
    path.write_text(text)
    return campaign.read_case(path)


CALL_OTHER = [{"call": "other", "args": [{"arange": 3}], "equals": "-x"}]


@pytest.mark.parametrize("args", [[], ["main", "other"], {"new": "other"}])
def test_a_pass_and_a_builder_in_python(tmp_path: Path, pool: Pool, args: Any) -> None:
    one = {"python": "beside.py:rename", "args": args}
    case = beside(tmp_path, one, LEGALIZE, module="MODULE", run=CALL_OTHER)
    report = report_on(case, pool)
    assert report.verdict is Verdict.GUARDS, report.judgement.reason


def test_a_pass_in_python_in_a_pipeline(tmp_path: Path, pool: Pool) -> None:
    one = {"python": "beside.py:rename", "args": {"new": "other"}}
    build = {"pipeline": [one, *LOWERING_ALL]}
    case = beside(tmp_path, module="MODULE", build=build, run=CALL_OTHER)
    report = report_on(case, pool)
    # Arguments are laid out by the module before the build, which has no `other` yet.
    assert report.verdict is Verdict.REGRESSED, report.judgement.reason
    assert "other" in report.judgement.reason


@pytest.mark.parametrize(
    ("function", "fault", "fragment"),
    [
        ("fail", "pass: error ZeroDivisionError", "on purpose"),
        ("none", "pass: error TypeError", "expected an IRModule from none, came NoneType"),
        ("not_there", "load: error AttributeError", "beside.py has no function 'not_there'"),
        ("renam", "load: error AttributeError", "did you mean 'rename'?"),
    ],
)
def test_a_pass_in_python_that_fails(
    tmp_path: Path, pool: Pool, function: str, fault: str, fragment: str
) -> None:
    report = report_on(beside(tmp_path, function, module="MODULE"), pool)
    run = report.judgement.arms["stock"].telling
    assert faults(run) == [fault]
    assert fragment in report.judgement.reason


@pytest.mark.parametrize("form", ["script", "json"])
def test_round_trip(tmp_path: Path, pool: Pool, form: str) -> None:
    keys = {"run": RUN, "passes": [LEGALIZE], "after": [{"roundtrip": form}]}
    report = report_on(make_case(tmp_path, module=ADD, **keys), pool)
    assert report.verdict is Verdict.GUARDS, report.judgement.reason


def test_a_round_trip_that_fails(tmp_path: Path, pool: Pool) -> None:
    keys = {"module": "MODULE", "build": False, "after": [{"roundtrip": "script"}]}
    run = run_once(beside(tmp_path, "leave_free", **keys), pool)
    result = next(result for result in run.stages if result.stage is Stage.PASS)
    assert (result.at, result.failed) == ("after", True), result
    assert "free" in message(result.outcome)


def test_an_ill_formed_module_goes_on(tmp_path: Path, pool: Pool) -> None:
    write_case(tmp_path, "ill", module={"python": "ill.py:ill_formed"}, expect={"input": "ok"})
    builders = Path(campaign.CANARIES) / "builders.py"
    (tmp_path / "repros" / "ill.py").write_bytes(builders.read_bytes())
    run = run_once(campaign.read_case(tmp_path / "repros" / "ill.yaml"), pool)
    assert next(result.stage for result in run.stages if result.failed) is Stage.INPUT
    assert outcomes(run)["build"] != NotReached()
