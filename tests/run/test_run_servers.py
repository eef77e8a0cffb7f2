"""Fork servers that are killed, stopped, left alone or slow; and cases that aim at them."""

from __future__ import annotations

import os
import signal
import tempfile
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
    """It is over its time, as the server is that should end it; a new one serves the next case."""
    monkeypatch.setattr(host, "GRACE_SECONDS", 0.2)
    stopping = built(tmp_path, STOPPING, limits={"seconds": 1})
    assert faults(run_once(stopping, pool)) == ["load: hang"]
    assert report_on(make_case(tmp_path, **SOUND), pool).verdict is Verdict.GUARDS
    assert left_by(os.getpid(), but=servers(pool)) <= servers(pool)


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
    endless = make_case(tmp_path, "endless", module={"python": "nasty.py:sleep"})
    sound = make_case(tmp_path, "sound", **SOUND)
    reports = campaign.run_cases([endless, sound], campaign.Options(jobs=2), pool)
    assert next(reports).case.id == sound.id
    reports.close()  # type: ignore[attr-defined]
    assert left_by(os.getpid(), but=servers(pool)) <= servers(pool)
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
