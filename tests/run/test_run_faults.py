"""What cases, and the machine under them, do to the harness: it stays right and says so."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import signal
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
    run_cli,
    run_once,
    start_cli,
    write_case,
)

from harness.report.console import as_text
from harness.report.jsonl import ResultsFile
from harness.report.ladder import ladder
from harness.run.pool import Pool
from harness.run.trace import TvmInfo
from harness.verdict.outcome import Error
from harness.verdict.word import Verdict

SOUND = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.add(x, R.const(1, "float32"))
        return y
"""
RUN = [{"call": "main", "args": [{"arange": 4}], "equals": "x + np.float32(1)"}]
SPITE = (
    "environment folder globals_of_tvm legaliser harness python limits signals priority"
).split()


@pytest.mark.fault("state")
@pytest.mark.parametrize("how", SPITE)
def test_what_a_case_changes_the_next_does_not_see(how: str, tmp_path: Path, pool: Pool) -> None:
    look = make_case(tmp_path, "look", module={"python": "spiteful.py:look"})
    sound = make_case(tmp_path, "sound", module=SOUND, run=RUN)
    before = message_of(run_once(look, pool))
    spite = {"python": "spiteful.py:spite", "args": [how, SOUND]}
    keys: dict[str, Any] = {"run": RUN, "repeat": 2, "limits": {"seconds": 5}}
    report = report_on(make_case(tmp_path, "spite", module=spite, **keys), pool)
    if how in ("environment", "folder", "signals", "priority"):
        assert report.verdict is Verdict.GUARDS, report.judgement.reason  # it is its own affair
    assert message_of(run_once(look, pool)) == before
    assert report_on(sound, pool).verdict is Verdict.GUARDS


def message_of(run: Any) -> str:
    (result,) = (result for result in run.stages if result.failed)
    assert isinstance(result.outcome, Error)
    # The scratch folder and the addresses of functions are a run's own.
    return re.sub(r"0x[0-9a-f]+", "0x", result.outcome.message)


MESSAGES = {
    "not utf-8": ("ValueError('\\udcff\\ud800\\x00\\x1b[31m')", "ValueError", "\udcff\ud800\x00"),
    "50 MB": ("ValueError('x' * 50_000_000 + ' the reason')", "ValueError", "the reason"),
    "50 MB of lines": ("ValueError('x\\n' * 25_000_000)", "ValueError", "characters cut"),
    "empty": ("ValueError()", "ValueError", ""),
    "cannot be printed": (
        "type('E', (Exception,), {'__str__': lambda self: 1 / 0})()",
        "E",
        "cannot be printed: ZeroDivisionError",
    ),
    "odd class": ("type('a b\\n', (Exception,), {})('m')", "a b\n", "m"),
    "class without end": ("type('E' * 100_000, (Exception,), {})('m')", "E" * 10, "m"),
    "a chain": ("ExceptionGroup('g', [ValueError('a')])", "ExceptionGroup", "g"),
}


@pytest.mark.fault("text")
@pytest.mark.parametrize("kind", MESSAGES)
def test_messages(kind: str, tmp_path: Path, pool: Pool) -> None:
    raised, name, fragment = MESSAGES[kind]
    if "Group" in raised and sys.version_info < (3, 11):
        pytest.skip("there are none")
    report = report_on(built(tmp_path, f"raise {raised}"), pool)
    (result,) = (one for one in report.judgement.arms["stock"].stages if one.failed)
    assert isinstance(result.outcome, Error)
    assert result.outcome.type.startswith(name)
    assert fragment in result.outcome.message
    assert len(result.outcome.message) + len(result.outcome.type) < 20_000
    assert len(as_text(ladder(report.case, report.judgement))) < 20_000


DEEP = {
    "in Python": ("def f(n):\n    return f(n + 1)\nf(0)", "load: error RecursionError"),
    "in C++": (
        "v = e = tvm.tirx.Var('v', 'int32')\n"
        "for _ in range(200_000):\n"
        "    e = tvm.tirx.Add(e, v)\n"
        "tvm.tirx.analysis.undefined_vars(e)",
        "load: crash SIGSEGV",
    ),
}


@pytest.mark.fault("stack")
@pytest.mark.parametrize("where", DEEP)
def test_stack_overflow(where: str, tmp_path: Path, pool: Pool) -> None:
    body, fault = DEEP[where]
    run = run_once(built(tmp_path, body), pool)
    assert faults(run) == [fault]
    assert all(len(step.raised.frames) <= 200 for step in run.trace.steps if step.raised)


@pytest.mark.fault("text")
@pytest.mark.parametrize(
    "name",
    ["", " ", "a b", "a\nb", "\x1b[31m", "é", "\U0001f600", "a.b::c", "'\"", "[/]", "a" * 9000],
)
def test_names_of_functions(name: str, tmp_path: Path, pool: Pool) -> None:
    body = (
        f"text = {SOUND!r}\n"
        "function = tvm.script.from_source(text)['main'].with_attr('global_symbol', NAME)\n"
        "return tvm.IRModule({NAME: function})"
    ).replace("NAME", repr(name))
    case = built(tmp_path, body, build=False)
    report = report_on(case, pool)
    assert report.verdict is Verdict.GUARDS, report.judgement.reason
    assert report.judgement.arms["stock"].trace.globals == (name,)
    shown = as_text(ladder(case, report.judgement))
    assert "\x1b" not in shown


# --- the machine ---------------------------------------------------------------------------------


def cases_of(folder: Path) -> Path:
    for name in ("one", "two", "three"):
        write_case(folder, name, module=SOUND, run=RUN)
    return folder


def cli(folder: Path, *args: str, **keywords: Any) -> subprocess.CompletedProcess[str]:
    return run_cli("run", "repros", "-j", "2", *args, cwd=folder, **keywords)


@pytest.mark.fault("disk")
def test_the_disk_is_full(tmp_path: Path) -> None:
    """Not a line of the results file can be written: that is an error, and said as one."""
    done = cli(cases_of(tmp_path), "--jsonl", "/dev/full")
    assert done.returncode == 2
    assert "--jsonl /dev/full: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.fault("disk")
def test_the_disk_fills_up(tmp_path: Path) -> None:
    """What was written before stays, whole lines of it."""
    limit = 700  # bytes; the head and the first case or two
    done = cli(
        cases_of(tmp_path),
        *("--jsonl", "out.jsonl"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "--jsonl out.jsonl: File too large" in done.stderr
    lines = (tmp_path / "out.jsonl").read_text().split("\n")
    assert json.loads(lines[0])["schema"] == 1


def within(mounts: str) -> tuple[str, ...]:
    """A prefix for a command: it runs with file systems of its own, after `mounts`."""
    if not CAN_UNSHARE:
        pytest.skip("no namespaces here")
    return ("unshare", "-rm", "sh", "-c", f'{mounts}; cd "$PWD"; exec "$@"', "sh")


def _can_unshare() -> bool:
    try:
        return subprocess.run(["unshare", "-rm", "true"], check=False).returncode == 0
    except FileNotFoundError:
        return False


CAN_UNSHARE = _can_unshare()
READ_ONLY = "for f in {}; do mount --bind $f $f && mount -o remount,bind,ro $f; done"


@pytest.mark.fault("disk")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    prefix = within(READ_ONLY.format("."))
    done = cli(cases_of(tmp_path), prefix=prefix)
    assert (done.returncode, done.stdout.count("guards")) == (0, 4), done.stderr
    done = cli(tmp_path, "--jsonl", "out.jsonl", prefix=prefix)
    assert done.returncode == 2
    assert "--jsonl out.jsonl: Read-only file system" in done.stderr


@pytest.mark.fault("disk")
def test_nowhere_to_put_temporary_files(tmp_path: Path) -> None:
    done = cli(cases_of(tmp_path), prefix=within(READ_ONLY.format("/tmp /var/tmp .")))
    assert done.returncode == 3, done.stdout + done.stderr
    assert "no folder for temporary files" in done.stderr


@pytest.mark.fault("disk")
def test_no_shared_memory(tmp_path: Path) -> None:
    prefix = within("mount -t tmpfs -o size=4k,mode=000 none /dev/shm")
    done = cli(cases_of(tmp_path), prefix=prefix)
    assert (done.returncode, done.stdout.count("guards")) == (0, 4), done.stderr


@pytest.mark.fault("disk")
def test_a_full_disk_for_temporary_files(tmp_path: Path) -> None:
    """What needs none goes on."""
    mounts = "mount -t tmpfs -o size=16k none /var/tmp; cat /dev/zero > /var/tmp/full 2> /dev/null"
    done = cli(cases_of(tmp_path), prefix=within(mounts), env={"TMPDIR": "/var/tmp"})
    assert (done.returncode, done.stdout.count("guards")) == (0, 4), done.stdout + done.stderr


@pytest.mark.fault("two")
def test_a_results_file_that_another_run_is_writing_to(tmp_path: Path) -> None:
    """It is left alone, until that run has ended in whatever way."""
    (tmp_path / "out.jsonl").write_text("from last week")
    with ResultsFile(tmp_path / "out.jsonl", TvmInfo("", "", "", "", ""), 1):
        held = (tmp_path / "out.jsonl").read_text()
        assert json.loads(held)["schema"] == 1
        done = cli(cases_of(tmp_path), "--jsonl", "out.jsonl")
        assert done.returncode == 2
        assert "--jsonl out.jsonl: another run is writing to it" in done.stderr
        assert (tmp_path / "out.jsonl").read_text() == held
    done = cli(tmp_path, "--jsonl", "out.jsonl")
    assert done.returncode == 0
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 4


SURROUNDINGS = """
import os, resource, signal, stat, sys, trace
is_open = lambda fd: os.path.lexists(f'/proc/self/fd/{fd}')
files = {fd: os.readlink(f'/proc/self/fd/{fd}') for fd in range(64) if is_open(fd)}
seen = {
    'limits': [resource.getrlimit(n)[0] for n in (resource.RLIMIT_STACK, resource.RLIMIT_CORE)],
    'input': sys.stdin.read(),
    'leads its group': os.getpgid(0) == os.getpid(),
    'signals': (signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL, signal.set_wakeup_fd(-1)),
    # stdout, stderr, records, and what wakes the server; how arms are asked for
    'pipes': [sum(one.startswith(kind) for one in files.values()) for kind in ('pipe', 'socket')],
    'inheritable': [fd for fd in files if fd > 2 and os.get_inheritable(fd)],
    'private': oct(stat.S_IMODE(os.stat(os.environ['TMPDIR']).st_mode)),
    'trace of Python': hasattr(trace, 'Trace'),
}
if seen != EXPECTED:
    raise ValueError(repr(seen))
return tvm.IRModule()
"""
EXPECTED = {
    "limits": [8 << 20, 0],
    "input": "",
    "leads its group": True,
    "signals": (True, -1),
    "pipes": [5, 1],
    "inheritable": [],
    "private": "0o700",
    "trace of Python": True,
}


@pytest.mark.fault("start")
def test_how_a_run_is_started_is_no_matter(tmp_path: Path) -> None:
    """A large stack, core dumps, something to read on the standard input, little memory."""
    built(tmp_path, SURROUNDINGS.replace("EXPECTED", repr(EXPECTED)), name="zzz")

    def start() -> None:
        for number, most in ((resource.RLIMIT_STACK, 64 << 20), (resource.RLIMIT_CORE, 1 << 20)):
            resource.setrlimit(number, (most, resource.getrlimit(number)[1]))
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))  # a case has 4 GiB

    with (tmp_path / "input").open("w+") as given:
        given.write("not for a case")
        given.seek(0)
        done = cli(cases_of(tmp_path), preexec_fn=start, stdin=given)
    assert (done.returncode, done.stdout.count("guards")) == (0, 5), done.stdout + done.stderr


HANDLERS = """
import ctypes, re
from pathlib import Path
from harness.run.process import _Stack
stack = _Stack()
ctypes.CDLL(None).sigaltstack(None, ctypes.byref(stack))
areas = re.findall(r"^(\\w+)-(\\w+) rw-p", Path("/proc/self/maps").read_text(), re.MULTILINE)
first, last = stack.base, stack.base + stack.size - 1
there = any(int(low, 16) <= first and last < int(high, 16) for low, high in areas)
raise ValueError(repr((stack.size, there)))
"""


@pytest.mark.fault("stack")
def test_handlers_of_fatal_signals_have_room(tmp_path: Path, pool: Pool) -> None:
    """TVM's needs more than the few KiB that it would get; what it would do beyond is anybody's
    guess."""
    assert message_of(run_once(built(tmp_path, HANDLERS), pool)) == f"({1 << 20}, True)"


@pytest.mark.fault("descriptors")
@pytest.mark.parametrize("count", [8, 12, 16, 20, 24, 32, 48])
def test_few_descriptors(count: int, tmp_path: Path) -> None:
    """It works, or says that it cannot; it never calls that a fault of a case."""
    done = cli(
        cases_of(tmp_path),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count)),
    )
    if done.returncode == 0:
        assert done.stdout.count("guards") == 4
    else:
        assert done.returncode == 3, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
    if count >= 48:
        assert done.returncode == 0


@pytest.mark.fault("descriptors")
def test_a_case_that_uses_up_descriptors(tmp_path: Path, pool: Pool) -> None:
    body = "import os\nwhile True:\n    os.open('/dev/null', os.O_RDONLY)"
    assert faults(run_once(built(tmp_path, body), pool)) == ["load: error OSError"]
    assert report_on(make_case(tmp_path, module=SOUND, run=RUN), pool).verdict is Verdict.GUARDS


JUMPING = """
import itertools, time
jumps = itertools.cycle([0, 1e9, -1e9, 86_400, -86_400])
real = time.time
time.time = lambda: real() + next(jumps)
time.time_ns = lambda: int(time.time() * 1e9)
"""


@pytest.mark.fault("clock")
def test_the_clock_jumps(tmp_path: Path) -> None:
    cases_of(tmp_path)
    write_case(
        tmp_path,
        "four",
        module={"python": "nasty.py:sleep"},
        expect={"load": "hang"},
        limits={"seconds": 1},
    )
    (tmp_path / "sitecustomize.py").write_text(JUMPING)
    done = cli(tmp_path, env={"PYTHONPATH": f"{tmp_path}:{ROOT}"})
    assert (done.returncode, done.stdout.count("guards")) == (0, 4), done.stdout + done.stderr


SPIN = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"


@pytest.mark.fault("clock")
@pytest.mark.parametrize(("work", "said"), [(0.7, "guards"), (1000, "load: expected ok, saw hang")])
def test_a_processor_that_many_others_want(work: float, said: str, tmp_path: Path) -> None:
    """What takes long for want of a processor is no hang; what hangs is one still."""
    module = {"python": "nasty.py:busy", "args": [work]}
    write_case(tmp_path, module=module, build=False, limits={"seconds": 1})
    core = min(os.sched_getaffinity(0))
    others = [subprocess.Popen([sys.executable, "-c", SPIN, str(core)]) for _ in range(3)]
    try:
        done = cli(tmp_path, prefix=("taskset", "--cpu-list", str(core)))
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert said in done.stdout, done.stdout + done.stderr


@pytest.mark.fault("interrupt")
@pytest.mark.parametrize("seed", range(6))
def test_a_signal_at_a_random_moment(seed: int, tmp_path: Path) -> None:
    """No moment leaves anything running, prints a traceback, or tears a line of results."""
    chance = random.Random(seed)
    number = chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    cases_of(tmp_path)
    for name in ("late_segfault", "late_leave_daemon", "system_exit"):
        write_case(tmp_path, name, module={"python": f"nasty.py:{name}"})
    (tmp_path / "scratch").mkdir()
    run = start_cli(
        *("run", "repros", "-j", "2", "--jsonl", "out.jsonl"),
        cwd=tmp_path,
        start_new_session=True,
        env={"TMPDIR": str(tmp_path / "scratch")},
    )
    time.sleep(chance.uniform(0.2, 4.0))
    os.killpg(run.pid, number)
    _, err = run.communicate(timeout=60)
    assert left_by(run.pid) == set()
    assert list((tmp_path / "scratch").iterdir()) == []
    assert b"harness" not in err, err  # not even of ours: Python may be interrupted as it starts
    if (tmp_path / "out.jsonl").exists():
        for line in (tmp_path / "out.jsonl").read_bytes().splitlines(keepends=True):
            assert json.loads(line) and line.endswith(b"\n")


# --- modules that a case requires ----------------------------------------------------------------

COUNTED = "import os\nprint('noise')\nopen('imported', 'a').write(f'{os.getpid()}\\n')\n"


def requiring(folder: Path, name: str, module: str, text: str, **keys: Any) -> None:
    (folder / f"{module}.py").write_text(text)
    keys = {"module": {"python": f"{name}.py:make"}, "requires": [module], **keys}
    write_case(folder, name, **keys)
    lines = f"import tvm\n\ndef make():\n    import {module}\n    return tvm.IRModule()\n"
    (folder / "repros" / f"{name}.py").write_text(lines)


def test_what_a_case_requires_is_imported_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        requiring(tmp_path, name, "counted", COUNTED)
    done = cli(tmp_path, env={"PYTHONPATH": f"{tmp_path}:{ROOT}"})
    assert (done.returncode, done.stdout.count("guards")) == (0, 3), done.stdout + done.stderr
    assert len((tmp_path / "imported").read_text().splitlines()) == 1
    assert "noise" not in done.stdout + done.stderr


IMPORTS = {
    "raise ZeroDivisionError": {"error": "ZeroDivisionError"},
    "raise SystemExit": {"error": "SystemExit"},
    "import ctypes; ctypes.string_at(0)": {"crash": "SIGSEGV"},
    "import os; os._exit(0)": {"exit": 0},
}


@pytest.mark.fault("imports")
@pytest.mark.parametrize("text", IMPORTS)
def test_a_module_that_cannot_be_imported_hurts_who_requires_it(text: str, tmp_path: Path) -> None:
    """And nobody else, though the fork server has tried first."""
    cases_of(tmp_path)
    requiring(tmp_path, "bad", "deadly_import", text, expect={"load": IMPORTS[text]})
    done = cli(tmp_path, "--jsonl", "out.jsonl", env={"PYTHONPATH": f"{tmp_path}:{ROOT}"})
    assert (done.returncode, done.stdout.count("guards")) == (0, 4), done.stdout + done.stderr
    assert "reproduces      bad" in done.stdout
    if "ctypes" in text:
        lines = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
        (bad,) = (line for line in lines if line.get("case") == "bad")
        assert "deadly_import.py" in bad["arms"]["stock"]["stderr"], "where it died"
