"""The parent's handles on processes: the fork server, and the children it makes."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.run import process, wire
from harness.run.capture import Capture
from harness.run.trace import End, Stopped, TvmInfo
from harness.run.transcript import Transcript

# Import of TVM on a cold, busy machine.
STARTUP_SECONDS = 120.0
# What a process that was told to end gets before it is ended.
GRACE_SECONDS = 3.0
_PATIENCE = 10
_CHUNK = 1 << 16
_PIPE = 1 << 20  # bytes that a pipe holds at most
_ENTRY = Path(__file__).parent / "entry.py"


class ServerError(Exception):
    """The fork server cannot start, or has gone; the text says what it printed."""


def _environment(mark: str, scratch: str) -> dict[str, str]:
    # The mark finds what a server leaves behind. A pool of BLAS threads only costs address space.
    own = {"TVM_REPRO_SERVER": mark, "TVM_REPRO_SCRATCH": scratch, "TMPDIR": scratch}
    # What was printed before a crash must have left the buffers, those of C too.
    return {"OPENBLAS_NUM_THREADS": "1", **os.environ, **own, "PYTHONUNBUFFERED": "1"}


def _scratch_folder(mark: str, base: str | None) -> str:
    """For temporary files of the children: TVM makes some, and one that dies does not clear up.

    The server makes the folder, so that there is none without a server to remove it.
    """
    try:
        return os.path.join(base or tempfile.gettempdir(), f"tvm-repro-{mark}")
    except OSError as error:
        raise ServerError(f"no folder for temporary files: {error}") from None


class Server:
    """The fork server process, from the parent's side.

    A `cold` server never imports TVM: each of its children does so for itself. Else the `modules`
    that cases need are imported as well. `within` is a command that starts it in a sandbox of its
    own, where only `/dev/shm` can be written to.

    Raises
    ------
    ServerError
        When TVM cannot be imported.
    """

    def __init__(
        self, cold: bool = False, modules: Sequence[str] = (), within: Sequence[str] = ()
    ) -> None:
        self.cold = cold
        self.modules = tuple(modules)
        self.within = tuple(within)
        self.errors = Capture()
        self._mark = f"{os.getpid()}-{fresh_token()}"
        self._scratch = _scratch_folder(self._mark, "/dev/shm" if within else None)
        try:
            self.control, self.process = self._start()
        except OSError as error:
            raise ServerError(f"the fork server cannot start: {error}") from None
        try:
            self.info = None if cold else self._greeting()
        except BaseException:
            self.close()
            raise

    def _start(self) -> tuple[socket.socket, subprocess.Popen[bytes]]:
        ours, theirs = socket.socketpair()
        with theirs:
            number = str(theirs.fileno())
            args = [str(_ENTRY), number, *(["--cold"] if self.cold else self.modules)]
            process = subprocess.Popen(
                [*self.within, sys.executable, *args],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=_environment(self._mark, self._scratch),
                # Ctrl-C at the terminal is the parent's to handle.
                start_new_session=True,
            )
        return ours, process

    def _greeting(self) -> TvmInfo:
        self.control.settimeout(STARTUP_SECONDS)
        data = b""
        try:
            while not data.endswith(b"\n"):
                chunk = self.control.recv(_CHUNK)
                if not chunk:
                    break
                data += chunk
        except TimeoutError:
            raise ServerError(f"TVM was not imported in {STARTUP_SECONDS:.0f} s") from None
        self.control.settimeout(None)
        if not data.endswith(b"\n"):
            assert self.process.stderr is not None
            self.errors.feed(self.process.stderr.read())
            lines = self.errors.text().strip().splitlines()
            raise ServerError(lines[-1] if lines else "the fork server ended without a word")
        return TvmInfo(**json.loads(data))

    @property
    def fds(self) -> tuple[int, int]:
        """What becomes readable when the server prints, or goes."""
        assert self.process.stderr is not None
        return self.control.fileno(), self.process.stderr.fileno()

    def alive(self) -> bool:
        """Take what the server printed; False when it has gone."""
        control, stderr = self.fds
        while select.select([stderr], [], [], 0)[0]:
            data = os.read(stderr, _CHUNK)
            if not data:
                return False
            self.errors.feed(data)
        return not select.select([control], [], [], 0)[0]

    def close(self) -> None:
        """End the server and, through it, all that it forked."""
        self.control.close()
        try:
            self.process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        process.end_marked(f"TVM_REPRO_SERVER={self._mark}")
        shutil.rmtree(self._scratch, ignore_errors=True)
        if self.process.stderr is not None:
            self.process.stderr.close()


class Child:
    """One forked process: what it says, prints, and how it ends.

    Parameters
    ----------
    via : socket
        Control socket of the process that forks it.
    request : Load, Arm or Alone
    seconds : float
        Time limit, from the first record on. Time in which it could have run and got no processor
        does not count, up to `_PATIENCE` times the limit: a busy machine is no hang.
    startup : float
        What it may take on top until then (s).
    """

    def __init__(
        self, via: socket.socket, request: wire.Fork, seconds: float, startup: float = 0.0
    ) -> None:
        self.key = request.key
        self.via = via
        self.transcript = Transcript(request.token)
        self.out, self.err = Capture(), Capture()
        self.seconds = seconds
        self.started = time.monotonic()
        self.deadline = self.started + seconds + startup
        self.pid = 0
        self._waited = 0.0  # for a processor, before its time began
        self._granted = 0.0  # for having waited since
        self.killed_at: float | None = None
        self.ended: dict[str, Any] | None = None
        self.control, control, pipes = _channels()
        theirs = (control.fileno(), *(write for _, write in pipes))
        try:
            wire.send(via, request, theirs)
        finally:
            control.close()
            for _, write in pipes:
                os.close(write)
        self._records, self._status, self._out, self._err = (read for read, _ in pipes)
        self.open = set(self.fds)

    @property
    def fds(self) -> tuple[int, ...]:
        return (self._records, self._status, self._out, self._err)

    @property
    def next_limit(self) -> float:
        """When something has to be done about it, on the monotonic clock."""
        return self.deadline if self.killed_at is None else self.killed_at + GRACE_SECONDS

    def late(self, now: float) -> bool:
        """Whether something has to be done about it now."""
        if self.killed_at is None and now >= self.deadline:
            waited = min(process.waited(self.pid) - self._waited, _PATIENCE * self.seconds)
            if waited > self._granted:
                self.deadline += waited - self._granted
                self._granted = waited
        return now >= self.next_limit

    def read(self, fd: int) -> None:
        """Take what is there on one descriptor, which has been found readable."""
        data = os.read(fd, _CHUNK)
        if not data:
            self.open.discard(fd)
            return
        if fd == self._records:
            if not self.transcript.started:
                self.deadline = time.monotonic() + self.seconds
                self._waited = process.waited(self.pid)
            self.transcript.feed(data)
        elif fd == self._out:
            self.out.feed(data)
        elif fd == self._err:
            self.err.feed(data)
        elif self.ended is None:
            self._take_status(data)

    def _take_status(self, data: bytes) -> None:
        for line in data.splitlines():  # a thread of the loader may have written there too
            with contextlib.suppress(ValueError):
                status = json.loads(line)
                if isinstance(status, dict) and isinstance(status.get("pid"), int):
                    self.pid = status["pid"]
                elif isinstance(status, dict):
                    self.ended = status

    def drain(self) -> None:
        """After the end: take what still stands in the pipes. What a stray adds is not waited for.

        A pipe holds at most 1 MiB, so the number of reads is bounded too.
        """
        for fd in self.fds:
            for _ in range(_PIPE // _CHUNK):
                if fd not in self.open or not select.select([fd], [], [], 0)[0]:
                    break
                self.read(fd)

    def kill(self) -> None:
        """Ask the process that forked it to end it, because its time is over."""
        self.killed_at = time.monotonic()
        with contextlib.suppress(OSError):
            wire.send(self.via, wire.Kill(self.key))

    def end(self) -> End:
        """How it ended; only once `ended` is set."""
        stopped = Stopped.TIME if self.killed_at is not None else Stopped.ITSELF
        status = self.ended or {}
        code, signal = status.get("code"), status.get("signal")
        return End(
            stopped,
            code if isinstance(code, int) else None,
            signal if isinstance(signal, str) else None,
            final=self.transcript.final,
        )

    def close(self) -> None:
        self.control.close()
        for fd in self.fds:
            os.close(fd)


def _channels() -> tuple[socket.socket, socket.socket, list[tuple[int, int]]]:
    """A pair of sockets and four pipes. Raises ServerError when there is no room for them."""
    with contextlib.ExitStack() as undo:
        try:
            ours, theirs = socket.socketpair()
            undo.callback(ours.close)
            undo.callback(theirs.close)
            pipes = []
            for _ in range(4):
                pipe = os.pipe2(os.O_CLOEXEC)
                pipes.append(pipe)
                for fd in pipe:
                    undo.callback(os.close, fd)
        except OSError as error:
            raise ServerError(
                f"no channel to a child: {error.strerror} (see `ulimit -n`)"
            ) from None
        undo.pop_all()
    return ours, theirs, pipes


def fresh_token() -> str:
    """What opens the records of one child."""
    return secrets.token_hex(8)
