"""Modules and kernels that misbehave: each is judged rightly, and nothing is left of it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from runs import (
    ROOT,
    built,
    faults,
    left_by,
    make_case,
    report_on,
    run_once,
    start_cli,
    write_case,
)

from harness import campaign
from harness.run.pool import Pool
from harness.run.process import end_marked
from harness.run.trace import Stage
from harness.verdict.word import Verdict

ENDLESS = {"seconds": 2}
SMALL = {"memory_mb": 1024, "seconds": 30}

# What each builder does when it is called to make a module, and when a VM calls into it.
LOADING: dict[str, Any] = {
    "segfault": {"crash": "SIGSEGV"},
    "abort": {"crash": "SIGABRT"},
    "exit_quietly": {"exit": 0},
    "sleep": "hang",
    "hang_in_c": "hang",
    "eat_memory": "oom",
    "eat_memory_in_c": "oom",
    "print_without_end": "hang",
    "print_a_gigabyte": {"error": "TypeError", "match": "expected an IRModule, came NoneType"},
    "close_all_pipes": {"exit": 70},
    "scribble_on_all_pipes": {"error": "TypeError", "match": "came NoneType"},
    "kill_parent": "oom",  # no telling who sent a SIGKILL
    "leave_daemon": {"error": "TypeError", "match": "came NoneType"},
    "system_exit": {"error": "SystemExit", "match": "^3$"},
}
RUNNING: dict[str, Any] = {
    "segfault": {"crash": "SIGSEGV"},
    "abort": {"crash": "SIGABRT"},
    "exit_quietly": {"exit": 0},
    "sleep": "hang",
    "hang_in_c": "hang",
    "eat_memory": "oom",
    "eat_memory_in_c": "oom",
    "print_without_end": "hang",
    "print_a_gigabyte": "ok",
    "close_all_pipes": {"exit": 70},
    "scribble_on_all_pipes": "ok",
    "kill_parent": "oom",
    "leave_daemon": "ok",
    "system_exit": {"error": "RuntimeError", "match": "^3$"},
}
NAMES = [*LOADING, *(f"late_{name}" for name in RUNNING)]
ROWS = {
    "signals": "segfault abort",
    "exit": "exit_quietly system_exit sleep hang_in_c eat_memory eat_memory_in_c",
    "streams": "print_without_end print_a_gigabyte",
    "pipes": "close_all_pipes scribble_on_all_pipes",
    "strays": "kill_parent leave_daemon",
}


def row_of(name: str) -> pytest.MarkDecorator:
    does = name.removeprefix("late_")
    return pytest.mark.fault(next(row for row, names in ROWS.items() if does in names.split()))


def keys_of(name: str) -> dict[str, Any]:
    late = name.startswith("late_")
    does = name.removeprefix("late_")
    outcome = (RUNNING if late else LOADING)[does]
    limits = ENDLESS if outcome == "hang" else SMALL if outcome == "oom" else {"seconds": 30}
    return {
        "module": {"python": f"nasty.py:{name}"},
        "run": [{"call": "main", "args": [{"tensor": [0, 1, 2, 3]}], "equals": "x"}],
        "expect": "ok" if outcome == "ok" else {"run" if late else "load": outcome},
        "limits": limits,
    }


@pytest.mark.parametrize("name", [pytest.param(name, marks=row_of(name)) for name in NAMES])
def test_alone(name: str, tmp_path: Path, pool: Pool) -> None:
    report = report_on(make_case(tmp_path, name, **keys_of(name)), pool)
    assert report.verdict.passes, report.judgement.reason
    assert left_by(os.getpid()) == set()


@pytest.mark.fault("disk")
def test_all_together_without_disk_or_memory(tmp_path: Path) -> None:
    """28 nasty cases, two at a time, with sound ones between them, in one run."""
    sound = "from tvm import IRModule\ndef make():\n    return IRModule()\n"
    for name in NAMES:
        write_case(tmp_path, name, **keys_of(name))
    (tmp_path / "repros" / "sound.py").write_text(sound)
    for name in ("aaa_sound", "kilo_sound", "pipe_sound", "zzz_sound"):
        file = tmp_path / "repros" / f"{name}.yaml"
        file.write_text(f"title: {name}\nmodule: {{python: sound.py:make}}\nexpect: ok\n")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    program = (
        "import re, sys\n"
        "from harness.cli import main\n"
        "code = main(['run', 'repros', '-j', '2'])\n"
        # and not ru_maxrss, which starts at what the process that forked this one had
        "print(re.search('VmHWM:(.*) kB', open('/proc/self/status').read())[1], file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Nothing in the run may write a file larger than this.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)),
    )
    out, err = (text.decode() for text in process.communicate(timeout=240))
    assert process.returncode == 0, out + err
    words = {line.split()[1]: line.split()[0] for line in out.splitlines() if line.count(" ")}
    for name in NAMES:
        late, does = name.startswith("late_"), name.removeprefix("late_")
        outcome = (RUNNING if late else LOADING)[does]
        assert words[name] == ("guards" if outcome == "ok" else "reproduces")
    assert words["zzz_sound"] == "guards"
    assert int(err.split()[-1]) < 120 << 10, "the parent held what its children printed"
    assert left_by(process.pid) == set()
    assert list(scratch.rglob("*")) == []


@pytest.mark.fault("streams")
def test_a_flood_is_cut_in_the_middle(tmp_path: Path, pool: Pool) -> None:
    run = run_once(make_case(tmp_path, **keys_of("late_print_a_gigabyte")), pool)
    assert len(run.trace.stdout) < 200_000
    assert "bytes cut" in run.trace.stdout


def test_a_wrong_expectation_of_a_crash_is_noticed(tmp_path: Path, pool: Pool) -> None:
    """The machinery does not just nod."""
    keys = keys_of("late_segfault")
    for expect, verdict in (
        ("ok", Verdict.REGRESSED),
        ({"load": {"crash": "SIGSEGV"}}, Verdict.DRIFTED),
        ({"run": {"crash": "SIGABRT"}}, Verdict.DRIFTED),
        ({"run": "hang"}, Verdict.DRIFTED),
        ({"run": {"exit": 0}}, Verdict.DRIFTED),
    ):
        case = make_case(tmp_path, **{**keys, "expect": expect})
        assert report_on(case, pool).verdict is verdict


def test_what_was_said_before_a_crash_is_kept(tmp_path: Path, pool: Pool) -> None:
    run = run_once(make_case(tmp_path, **keys_of("late_segfault")), pool)
    assert "Segmentation fault" in run.trace.stderr or "Segfault" in run.trace.stderr
    assert "behave" in run.trace.stderr or "segfault" in run.trace.stderr  # the Python stack
    assert [result.stage for result in run.stages if result.failed] == [Stage.RUN]


@pytest.mark.fault("strays")
def test_killing_the_loader_of_both_arms(tmp_path: Path, pool: Pool) -> None:
    """With arms to come the parent of an arm is the loader: both go, the next repeat is fresh."""
    case = make_case(tmp_path, repeat=3, **keys_of("late_kill_parent"))
    report = report_on(case, pool)
    assert report.verdict is Verdict.REPRODUCES, report.judgement.reason
    assert len(report.judgement.arms["stock"].runs) == 3


KERNEL = """
@pytest.mark.fault("signals")
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(x: T.Buffer((1,), "int32")):
        for i in range(1):
            with T.sblock("b"):
                vi = T.axis.spatial(1, i)
                x[vi] = T.call_extern("int32", CALL)
"""
IN_KERNELS: dict[str, Any] = {
    '"raise", 11': {"crash": "SIGSEGV"},
    '"raise", 8': {"crash": "SIGFPE"},
    '"raise", 4': {"crash": "SIGILL"},
    '"raise", 7': {"crash": "SIGBUS"},
    '"raise", 9': "oom",
    '"raise", 15': {"crash": "SIGTERM"},
    '"abort"': {"crash": "SIGABRT"},
    '"_exit", 0': {"exit": 0},
    '"_exit", 7': {"exit": 7},
    '"exit", 0': {"exit": 0},
    '"pause"': "hang",
    '"sleep", 1000': "hang",
}


@pytest.mark.parametrize("call", IN_KERNELS)
def test_real_kernels(call: str, tmp_path: Path, pool: Pool) -> None:
    outcome = IN_KERNELS[call]
    case = make_case(
        tmp_path,
        module=KERNEL.replace("CALL", call),
        run=[{"call": "main", "args": [{"tensor": [0], "dtype": "int32"}]}],
        expect={"run": outcome},
        limits={"seconds": 2 if outcome == "hang" else 30},
    )
    report = report_on(case, pool)
    assert report.verdict is Verdict.REPRODUCES, report.judgement.reason
    stages = {result.stage: result for result in report.judgement.arms["stock"].stages}
    assert stages[Stage.RUN].at == "main"


def test_what_is_printed_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By Python and by C, before a crash too, and however the run was started."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    puts = KERNEL.replace("CALL", '"puts", "from C"')
    dies = f"{puts}\n                x[vi] = T.call_extern('int32', 'raise', 11)\n"
    run = [{"call": "main", "args": [{"tensor": [0], "dtype": "int32"}]}]
    prints = built(tmp_path, "print('from Python')\nimport os\nos.abort()", name="prints")
    with Pool() as pool:
        for module, fault in ((puts, []), (dies, ["run: crash SIGSEGV"])):
            seen = run_once(make_case(tmp_path, module=module, run=run), pool)
            assert (faults(seen), seen.trace.stdout) == (fault, "from C\n")
        assert run_once(prints, pool).trace.stdout == "from Python\n"


@pytest.mark.fault("pipes")
def test_a_kernel_cannot_fake_a_record(tmp_path: Path, pool: Pool) -> None:
    module = KERNEL.replace(
        "CALL",
        """"puts", "{'final': true}")\n                x[vi] = T.call_extern("int32", "_exit", 0""",
    )
    case = make_case(
        tmp_path,
        module=module,
        run=[{"call": "main", "args": [{"tensor": [0], "dtype": "int32"}]}],
        expect={"run": {"exit": 0}},
    )
    assert report_on(case, pool).verdict is Verdict.REPRODUCES


TENSOR = {"full": 0, "shape": [4], "dtype": "int8"}
PAST_THE_END = """
@pytest.mark.fault("signals")
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(x: T.Buffer((4,), "int8"), y: T.Buffer((4,), "int8")):
        for i in range(1):
            with T.sblock("b"):
                vi = T.axis.spatial(1, i)
                T.evaluate(T.call_extern("int32", "memset", y.access_ptr("w"), 1, SIZE))
"""


def test_a_kernel_that_writes_past_its_tensor(tmp_path: Path, pool: Pool) -> None:
    """Right values, smashed heap: the fault shows behind the call, in whatever frees first."""
    case = make_case(
        tmp_path,
        module=PAST_THE_END.replace("SIZE", "4000000"),
        run=[
            {"call": "main", "args": [TENSOR, dict(TENSOR)], "equals": {"y": "np.ones(4, 'int8')"}}
        ],
        limits={"seconds": 20},
    )
    run = run_once(case, pool)
    assert len(faults(run)) == 1, faults(run)
    assert faults(run)[0].partition(" ")[2].startswith("crash SIG")


@pytest.mark.fault("signals")
def test_the_parser_can_be_killed(tmp_path: Path, pool: Pool) -> None:
    module = '@T.prim_func(s_tir=True)\ndef main(a: T.Buffer((1,), "float32")):\n    a[0] = None\n'
    run = run_once(make_case(tmp_path, module=module, build=False), pool)
    assert faults(run) == ["load: crash SIGSEGV"]


DIVIDES_BY_ZERO = """
@pytest.mark.fault("signals")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def divide(x: T.Buffer((4,), "int32"), y: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.sblock("b"):
                vi = T.axis.spatial(4, i)
                y[vi] = T.truncdiv(T.int32(7), x[vi])

    @R.function
    def main() -> R.Tensor((4,), "int32"):
        cls = Module
        zeros = R.const(0, "int32")
        y = R.call_tir(cls.divide, (R.const([1, 0, 1, 1], "int32"),), R.Tensor((4,), "int32"))
        return y
"""


def test_a_pass_can_die(tmp_path: Path, pool: Pool) -> None:
    """FoldConstant executes kernels."""
    case = make_case(
        tmp_path, module=DIVIDES_BY_ZERO, passes=["relax.transform.FoldConstant"], build=False
    )
    run = run_once(case, pool)
    assert faults(run) == ["pass: crash SIGFPE"]
    (fault,) = (result for result in run.stages if result.failed)
    assert fault.at == "relax.transform.FoldConstant"


def test_spawn_sees_what_fork_sees(tmp_path: Path, pool: Pool, cold_pool: Pool) -> None:
    names = ["late_segfault", "exit_quietly", "late_hang_in_c", "system_exit", "late_kill_parent"]
    limits = {"seconds": 8}  # a child that imports TVM on a busy machine needs some to get there
    cases = [make_case(tmp_path, name, **{**keys_of(name), "limits": limits}) for name in names]
    seen = [
        {
            report.case.id: faults(report.judgement.arms["stock"].telling)
            for report in campaign.run_cases(cases, campaign.Options(isolation=isolation), which)
        }
        for isolation, which in (("fork", pool), ("spawn", cold_pool))
    ]
    assert seen[0] == seen[1]
    assert left_by(os.getpid()) == set()


@pytest.mark.fault("two")
def test_two_runs_in_one_folder(tmp_path: Path) -> None:
    for name in ("late_segfault", "late_leave_daemon", "late_kill_parent"):
        write_case(tmp_path, name, **keys_of(name))
    runs = [start_cli("run", "repros", "-j", "2", cwd=tmp_path) for _ in range(2)]
    outs = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], outs
    assert sorted(outs[0][0].splitlines()) == sorted(outs[1][0].splitlines())
    assert [left_by(run.pid) for run in runs] == [set(), set()]


FORKING = """
import os, time

def make():
    # A process that forks its successor and goes, again and again; in sessions of their own or not.
    if os.fork() == 0:
        while True:
            open('alive', 'a').write('.')
            if AWAY:
                os.setsid()
            if os.fork():
                os._exit(0)
            time.sleep(0.0005)
    while not os.path.exists('alive'):
        time.sleep(0.001)
    if AWAY:
        os.kill(os.getppid(), 9)
    os.abort()
"""


@pytest.mark.fault("strays")
@pytest.mark.parametrize("away", [True, False])
def test_what_forks_faster_than_one_looks(away: bool, tmp_path: Path) -> None:
    """It is ended with the run, also when the server that could have adopted it is killed."""
    outcome = "oom" if away else {"crash": "SIGABRT"}
    write_case(tmp_path, module={"python": "nasty.py:make"}, expect={"load": outcome})
    (tmp_path / "repros" / "nasty.py").write_text(FORKING.replace("AWAY", str(away)))
    run = start_cli("run", "repros", cwd=tmp_path)
    try:
        out = run.communicate(timeout=60)
        assert run.returncode == 0, out
        steps = (tmp_path / "alive").stat().st_size
        time.sleep(0.3)
        assert (tmp_path / "alive").stat().st_size == steps  # looking for it might miss it
    finally:
        end_marked(f"TVM_REPRO_SERVER={run.pid}-")
