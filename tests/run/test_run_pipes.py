"""Pipes between the processes of a run, and their standard streams: filled, cut, closed, forged."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import (
    built,
    faults,
    left_by,
    report_on,
    run_once,
)

from harness.run import host, wire
from harness.run.capture import Capture
from harness.run.pool import Pool
from harness.run.trace import Step
from harness.run.transcript import Transcript
from harness.verdict.word import Verdict

TOKEN = "token"
NUMBERS = [0, -1, 1.5, float("nan"), float("inf"), 10**400, True, None]
KEYS = ("begin at end seconds raised mismatch absent word globals fix ir loaded final type").split()
VALUES = ("load exit well_formed message frames name applied used detail").split()
json_values = st.recursive(
    st.sampled_from([*NUMBERS, *KEYS, *VALUES, "", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)
lines = st.binary(max_size=60) | json_values.map(lambda one: json.dumps(one).encode())
records = st.dictionaries(st.sampled_from(KEYS), json_values, max_size=4)


@pytest.mark.fault("pipes")
@settings(max_examples=100, deadline=None, database=None)
@given(st.lists(lines | records.map(lambda one: json.dumps(one).encode()), max_size=12))
def test_nothing_in_a_record_is_trusted(sent: list[bytes]) -> None:
    """Even from somebody who knows the token: what is no record leaves no mark."""
    transcript = Transcript(TOKEN)
    for line in sent:
        transcript.feed(TOKEN.encode() + line)
        transcript.feed(b"\n")
    assert all(isinstance(step, Step) for step in transcript.steps)
    json.dumps([step.seconds for step in transcript.steps])


RECORDS = """
import gc, os
(records,) = [one for one in gc.get_objects() if type(one).__name__ == 'Records']
"""


def test_what_is_no_record() -> None:
    """Of another token, or the last word while a step is open: a kernel may have printed it."""
    transcript = Transcript(TOKEN)
    transcript.feed(b'other{"begin": "load", "at": ""}\n')
    assert transcript.steps == []
    transcript.feed(TOKEN.encode() + b'{"begin": "load", "at": ""}\n')
    transcript.feed(TOKEN.encode() + b'{"final": true}\n')
    assert (len(transcript.steps), transcript.final) == (1, False)


def test_a_record_goes_out_whole() -> None:
    """Whatever signals come in while it does."""
    received: list[bytes] = []
    reading, writing = os.pipe()
    before = signal.signal(signal.SIGALRM, lambda *_: None)

    def read() -> None:
        while data := os.read(reading, 1 << 16):
            received.append(data)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        wire.Records(writing, TOKEN).send({"ir": "x" * (16 << 20)})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        os.close(writing)
        reader.join()
        os.close(reading)
    assert json.loads(b"".join(received).strip()[len(TOKEN) :]) == {"ir": "x" * (16 << 20)}


def test_a_request_that_is_cut() -> None:
    """Who sent it has gone: that is the end, as when there is none."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall((1000).to_bytes(4, "big") + b"some of it")
        theirs.shutdown(socket.SHUT_WR)
        assert wire.receive(ours) is None


def test_what_is_printed_need_not_be_text() -> None:
    capture = Capture()
    capture.feed(b"a\xffb")
    assert capture.text() == "a\ufffdb"


GARBAGE = f"""{RECORDS}
for _ in range(64):
    os.write(records._fd, b'\\xff' * (1 << 20))
return tvm.IRModule()
"""


@pytest.mark.fault("pipes")
def test_a_pipe_filled_with_garbage(tmp_path: Path, pool: Pool) -> None:
    """It is passed over: what is said in the right way before and after it counts."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert faults(run_once(built(tmp_path, GARBAGE), pool)) == []
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 32 << 10, "KiB: the parent kept the garbage"


@pytest.mark.fault("pipes")
def test_records_without_end(tmp_path: Path, pool: Pool) -> None:
    body = f"{RECORDS}\nwhile True:\n    records.send({{'begin': 'load', 'at': 'x' * 1000}})"
    case = built(tmp_path, body, limits={"seconds": 2})
    assert faults(run_once(case, pool)) == ["load: hang"]


def test_the_memory_of_records_is_bounded() -> None:
    transcript = Transcript(TOKEN)
    long = json.dumps({"begin": "load", "at": "x" * (1 << 20)}).encode()
    for _ in range(40):
        transcript.feed(TOKEN.encode() + long + b"\n")
    assert len(transcript.steps) == 15
    for _ in range(40):
        transcript.feed(TOKEN.encode() + long)  # a line without end
    assert len(transcript._rest) < 20 << 20


FORGED = f"""{RECORDS}
records.send({{'end': {{}}, 'seconds': 10 ** 400}})
records.send({{'end': [], 'seconds': 0}})
records.send({{'begin': 'nowhere', 'at': ''}})
records.send({{'fix': {{'name': 1, 'applied': 1, 'used': 1e999, 'detail': 1}}}})
records.send({{'globals': 7}})
records.send([[]])
os.write(records._fd, records._token + b'{{"end": {{}}, "sec')
"""


@pytest.mark.fault("pipes")
def test_records_forged_and_cut(tmp_path: Path, pool: Pool) -> None:
    body = f"{FORGED}\nraise ValueError('the reason')"
    assert faults(run_once(built(tmp_path, body), pool)) == ["load: error ValueError"]
    body = f"{FORGED}\nos._exit(7)"
    assert faults(run_once(built(tmp_path, body), pool)) == ["load: exit 7"]


SCRIBBLING = """
import os, select, threading, time

def scribble():
    while True:
        for fd in range(3, 64):
            try:
                if select.select([], [fd], [], 0)[1]:
                    os.write(fd, b'7\\n[]\\n{{{\\n')
            except OSError:
                pass
        time.sleep(0.0001)

threading.Thread(target=scribble, daemon=True).start()
return tvm.IRModule()
"""


@pytest.mark.fault("pipes")
def test_a_thread_of_the_loader_writes_everywhere(tmp_path: Path, pool: Pool) -> None:
    """Onto the pipes too by which the loader tells how its arms have ended."""
    report = report_on(built(tmp_path, SCRIBBLING, repeat=4, limits={"seconds": 10}), pool)
    assert report.verdict is Verdict.GUARDS, report.judgement.reason
    assert left_by(os.getpid()) == set()


@pytest.mark.fault("pipes")
def test_a_child_that_cannot_tell_its_results_says_why(tmp_path: Path, pool: Pool) -> None:
    run = run_once(built(tmp_path, "import os\nos.closerange(3, 512)"), pool)
    assert faults(run) == ["load: exit 70"]
    assert "Bad file descriptor" in run.trace.stderr


def test_what_stands_in_the_pipes_at_the_end(
    tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is taken in, however slow the parent is."""
    monkeypatch.setattr(host, "_CHUNK", 64)
    shout = "os.write(1, b'x' * 50_000 + b' the end')"
    case = built(tmp_path, "return tvm.IRModule()", passes=[{"python": "own.py:shout"}])
    with (tmp_path / "repros" / "own.py").open("a") as file:
        file.write(f"\nimport os\n\ndef shout(module):\n    {shout}\n    os._exit(7)\n")
    run = run_once(case, pool)
    assert faults(run) == ["pass: exit 7"]
    assert run.trace.stdout.endswith(" the end") and len(run.trace.stdout) == 50_008
    run = run_once(built(tmp_path, f"import os\n{shout}\nos._exit(7)"), pool)
    assert faults(run) == ["load: exit 7"]
    assert run.trace.stdout.endswith(" the end") and len(run.trace.stdout) == 50_008


def test_a_child_ends_without_what_python_does_at_exit(tmp_path: Path, pool: Pool) -> None:
    """Which is no stage, and would run what the server has registered in every child."""
    body = "import atexit, ctypes\natexit.register(ctypes.string_at, 0)\nreturn tvm.IRModule()"
    assert faults(run_once(built(tmp_path, body), pool)) == []


@pytest.mark.fault("streams")
@pytest.mark.parametrize("then", ["return tvm.IRModule()", "import ctypes; ctypes.string_at(0)"])
def test_a_child_closes_its_standard_streams(then: str, tmp_path: Path, pool: Pool) -> None:
    body = f"import os\nos.closerange(0, 3)\n{then}"
    expected = ["load: crash SIGSEGV"] if "ctypes" in then else []
    assert faults(run_once(built(tmp_path, body), pool)) == expected
