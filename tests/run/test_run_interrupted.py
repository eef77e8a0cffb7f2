"""A run that is interrupted, terminated or killed leaves nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from runs import left_by, marked, start_cli, wait_for, write_case

BUSY = """
import ctypes, os, time
import tvm

def daemon():
    for _ in range(2):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True:
                    time.sleep(1000)
            os._exit(0)

def hang():
    daemon()
    open(f"started-{os.getpid()}", "w").close()
    ctypes.PyDLL(None).pause()

def sleep():
    daemon()
    open(f"started-{os.getpid()}", "w").close()
    while True:
        try:
            time.sleep(1000)
        except BaseException:
            pass
"""


def busy_run(folder: Path) -> subprocess.Popen[bytes]:
    """A run with two cases that never end and have left daemons; returned once they do that."""
    for name in ("hang", "sleep"):
        write_case(folder, name)
        (folder / "repros" / f"{name}.yaml").write_text(
            f"title: {name}\nmodule: {{python: busy.py:{name}}}\nexpect: ok\n"
        )
    (folder / "repros" / "busy.py").write_text(BUSY)
    (folder / "scratch").mkdir()
    run = start_cli(
        *("run", "repros", "-j", "2", "--jsonl", "out.jsonl"),
        cwd=folder,
        start_new_session=True,
        env={"TMPDIR": str(folder / "scratch")},
    )
    deadline = time.monotonic() + 60
    while len(list(folder.glob("started-*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    wait_for(lambda: len(marked(run.pid)) >= 6)  # the server, two children, and their daemons
    return run


@pytest.mark.fault("interrupt")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_a_signal_to_the_command_line(number: signal.Signals, tmp_path: Path) -> None:
    run = busy_run(tmp_path)
    os.killpg(run.pid, number)
    out, err = run.communicate(timeout=30)
    assert left_by(run.pid) == set()
    assert list((tmp_path / "scratch").iterdir()) == []
    assert b"Traceback" not in err
    if number is signal.SIGINT:
        assert run.returncode == 130
        assert b"interrupted: 0 of 2 cases had ended" in out
    assert (tmp_path / "out.jsonl").read_bytes().startswith(b'{"schema": 1')


@pytest.mark.fault("interrupt")
def test_interrupted_twice(tmp_path: Path) -> None:
    """An impatient person presses Ctrl-C again while the run is ending itself."""
    run = busy_run(tmp_path)
    for _ in range(3):
        os.killpg(run.pid, signal.SIGINT)
        time.sleep(0.02)
    run.communicate(timeout=30)
    assert left_by(run.pid) == set()


@pytest.mark.fault("interrupt")
def test_interrupted_while_tvm_is_imported(tmp_path: Path) -> None:
    write_case(tmp_path, module="@I.ir_module\nclass Module:\n    pass\n")
    run = start_cli("run", "repros", cwd=tmp_path, start_new_session=True)
    while not marked(run.pid):
        time.sleep(0.01)
    time.sleep(0.2)
    os.killpg(run.pid, signal.SIGINT)
    _, err = run.communicate(timeout=30)
    assert (run.returncode, b"Traceback" in err) == (130, False)
    assert left_by(run.pid) == set()


@pytest.mark.fault("server")
def test_the_server_is_killed_from_outside(tmp_path: Path) -> None:
    """Which says nothing about the cases: they run again, on a new server, one at a time."""
    for name in ("one", "two"):
        write_case(tmp_path, name)
        (tmp_path / "repros" / f"{name}.yaml").write_text(
            f"title: {name}\nmodule: {{python: slow.py:make}}\nexpect: ok\n"
        )
    (tmp_path / "repros" / "slow.py").write_text(
        "import os, time\n"
        "from pathlib import Path\n"
        "from tvm import IRModule\n"
        "def make():\n"
        "    first = not list(Path('.').glob('started-*'))\n"
        "    Path(f'started-{os.getpid()}').touch()\n"
        "    if first:\n"
        "        Path('server').write_text(str(os.getppid()))\n"
        "    deadline = time.monotonic() + 10\n"
        "    while Path('wait').exists() and time.monotonic() < deadline:\n"
        "        time.sleep(0.05)\n"
        "    return IRModule()\n"
    )
    (tmp_path / "wait").touch()
    run = start_cli("run", "repros", "-j", "2", cwd=tmp_path)
    while len(list(tmp_path.glob("started-*"))) < 2:
        time.sleep(0.05)
    os.kill(int((tmp_path / "server").read_text()), signal.SIGKILL)
    (tmp_path / "wait").unlink()
    out, err = run.communicate(timeout=60)
    assert (run.returncode, out.count(b"guards")) == (0, 3), out + err
    assert left_by(run.pid) == set()
