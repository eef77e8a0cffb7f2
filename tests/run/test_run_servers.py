"""Fork servers that are killed, stopped, left alone or slow; and cases that aim at them."""

from __future__ import annotations

import os
import resource
import signal
import tempfile
import threading
import time
from pathlib import Path

import pytest
from runs import built, faults, left_by, make_case, report_on, run_once, servers, wait_for

from harness import campaign
from harness.run import host
from harness.run.pool import Pool
from harness.verdict.word import Verdict

SOUND = {"module": "@I.ir_module\nclass Module:\n    pass\n"}

STOPPING = """
import os, signal, time
with open('/proc/self/stat') as stat:
    os.kill(int(stat.read().rpartition(')')[2].split()[1]), signal.SIGSTOP)
time.sleep(1000)
"""


@pytest.mark.fault("strays")
def test_a_case_that_stops_the_fork_server(
    tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is over its time, as the server is that should end it; a new one serves the next case.

    A server that has nothing to do with it is left alone.
    """
    monkeypatch.setattr(host, "GRACE_SECONDS", 0.2)
    other = pool._server(True, ())
    stopping = built(tmp_path, STOPPING, limits={"seconds": 1})
    assert faults(run_once(stopping, pool)) == ["load: hang"]
    assert pool._server(True, ()) is other
    assert report_on(make_case(tmp_path, **SOUND), pool).verdict is Verdict.GUARDS
    assert left_by(os.getpid()) == set()


@pytest.mark.fault("server")
def test_a_server_that_was_dying_when_it_was_asked(tmp_path: Path, pool: Pool) -> None:
    """It has begun nothing, so nobody is to blame."""
    server = pool._server(False, ())
    server.process.send_signal(signal.SIGSTOP)
    killer = threading.Timer(0.3, server.process.kill)
    killer.start()
    assert report_on(make_case(tmp_path, **SOUND), pool).verdict is Verdict.GUARDS
    killer.join()


@pytest.mark.fault("server")
def test_a_server_that_died_while_nothing_ran(tmp_path: Path, pool: Pool) -> None:
    server = pool._server(False, ())
    server.process.kill()
    server.process.wait()
    assert report_on(make_case(tmp_path, **SOUND), pool).verdict is Verdict.GUARDS


def test_a_limit_is_that_of_an_arm(tmp_path: Path, pool: Pool) -> None:
    """All repeats together may take longer."""
    naps = [{"python": "own.py:nap"}]
    case = built(tmp_path, "return tvm.IRModule()", passes=naps, repeat=4, limits={"seconds": 2})
    with (tmp_path / "repros" / "own.py").open("a") as file:
        file.write("\nimport time\n\ndef nap(module):\n    time.sleep(0.8)\n    return module\n")
    assert report_on(case, pool).verdict is Verdict.GUARDS


def test_a_module_that_is_loaded_just_in_time(
    tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parent that is slow to look after that must not end the loader, and call that a kill."""
    wait, late = Pool._wait, [0.8]

    def slow(self: Pool, children: list[host.Child]) -> None:
        wait(self, children)
        if late and any(child.transcript.loaded for child in children):
            time.sleep(late.pop())

    monkeypatch.setattr(Pool, "_wait", slow)
    case = make_case(tmp_path, **SOUND, build=False, limits={"seconds": 0.7})
    assert faults(run_once(case, pool)) == []
    assert not late


STOPS_LOADER = """
if not os.path.exists(MARK):
    open(MARK, 'w').close()
    os.kill(os.getppid(), signal.SIGSTOP)
    time.sleep(1000)
return module
"""


@pytest.mark.fault("strays")
def test_a_case_that_stops_its_loader(
    tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ends the two of them, and goes on."""
    monkeypatch.setattr(host, "GRACE_SECONDS", 0.2)
    before = servers(pool)
    stops = STOPS_LOADER.replace("MARK", repr(str(tmp_path / "mark")))
    passes = [{"python": "own.py:stop"}]
    case = built(tmp_path, "return tvm.IRModule()", passes=passes, repeat=2, limits={"seconds": 2})
    with (tmp_path / "repros" / "own.py").open("a") as file:
        lines = "".join(f"    {line}\n" for line in stops.splitlines())
        file.write(f"\nimport os, signal, time\n\ndef stop(module):\n{lines}")
    runs = report_on(case, pool).judgement.arms["stock"].runs
    assert [faults(run) for run in runs] == [["pass: hang"], []]
    assert servers(pool) == before


def test_a_shortage_of_descriptors_is_not_made_worse() -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    have = os.listdir("/proc/self/fd")
    free = [fd for fd in range(most[0]) if str(fd) not in have]
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (free[5], most[1]))
        with pytest.raises(host.ServerError, match="ulimit -n"):
            host._channels()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, most)
    assert os.listdir("/proc/self/fd") == have


@pytest.mark.fault("server")
@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_a_server_that_cannot_end_itself(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "GRACE_SECONDS", 0.2)
    server = host.Server(cold=True)
    folder = Path(tempfile.gettempdir(), f"tvm-repro-{server._mark}")
    wait_for(folder.exists)
    (folder / "left").touch()
    os.kill(server.process.pid, number)
    server.close()
    assert server.process.returncode == -signal.SIGKILL
    assert not folder.exists()


@pytest.mark.fault("server")
def test_a_server_that_takes_too_long_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "STARTUP_SECONDS", 0.01)
    with pytest.raises(host.ServerError, match="TVM was not imported in 0 s"):
        host.Server()


def test_a_run_that_is_given_up(tmp_path: Path, pool: Pool) -> None:
    """Nothing of it goes on, and the server serves the next."""
    before = servers(pool)
    have = len(os.listdir("/proc/self/fd"))
    endless = make_case(tmp_path, "endless", module={"python": "nasty.py:sleep"})
    sound = make_case(tmp_path, "sound", **SOUND)
    reports = campaign.run_cases([endless, sound], campaign.Options(jobs=2), pool)
    assert next(reports).case.id == sound.id
    reports.close()  # type: ignore[attr-defined]
    assert len(os.listdir("/proc/self/fd")) == have
    assert left_by(os.getpid()) == set()
    assert report_on(sound, pool).verdict is Verdict.GUARDS
    assert servers(pool) == before


@pytest.mark.fault("strays")
@pytest.mark.parametrize("repeat", [1, 2])
def test_a_case_that_signals_its_group(repeat: int, tmp_path: Path, pool: Pool) -> None:
    """Of which it is the only member."""
    before = servers(pool)
    body = "import os, signal\nos.kill(0, signal.SIGTERM)"
    report = report_on(
        built(tmp_path, body, repeat=repeat, expect={"load": {"crash": "SIGTERM"}}), pool
    )
    assert report.verdict is Verdict.REPRODUCES, report.judgement.reason
    assert servers(pool) == before
