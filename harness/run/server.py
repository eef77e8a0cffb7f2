"""The fork server: TVM imported once, a child for every request.

The same loop serves at two levels. The server forks a *loader* for a case; the loader parses the
module once and then serves too, forking a child for every arm. Only the process that forked a
child reports how it ended, on a status pipe that the child itself does not hold.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from harness.case.signals import signal_name
from harness.run import process, wire

# What a process has to do next; the answer is what comes after that.
Task = Callable[[], "Task | None"]
# Makes a child's task from its request, its control socket and its records pipe.
Work = Callable[[wire.Fork, socket.socket, wire.Records], "Task | None"]


@dataclass(slots=True)
class _Server:
    control: socket.socket
    work: Work
    # pid -> (key of its request, status pipe)
    running: dict[int, tuple[int, int]] = field(default_factory=dict)

    def serve(self) -> Task | None:
        """Answer requests until the other side closes; then end all children and return None.

        In a forked child it returns too, with what the child has to do: TVM's parser looks at
        every frame of the Python stack, and the children should not pay for this loop's.
        """
        process.adopt_orphans()
        process.open_closed_streams()  # those of a loader, by the builder that it has called
        wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only there to wake the loop
        signal.pthread_sigmask(
            signal.SIG_UNBLOCK, {signal.SIGCHLD}
        )  # a builder may have blocked it
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(wake_read, select.POLLIN)
        while True:
            ready = {fd for fd, _ in poll.poll()}
            if wake_read in ready:
                os.read(wake_read, 4096)
                self.reap()
            if self.control.fileno() in ready:
                received = wire.receive(self.control)
                if received is None:
                    break
                task = self.answer(*received)
                if task is not None:
                    return task
        process.end_family()
        return None

    def answer(self, request: wire.Request, fds: list[int]) -> Task | None:
        """Do what is asked; in the process that has to do the work, return it."""
        if isinstance(request, wire.Kill):
            for pid, (key, _) in self.running.items():
                if key == request.key:
                    process.kill_group(pid)
            return None
        for fd in fds:
            os.set_inheritable(fd, False)
        server = os.getpid()
        if isinstance(request, wire.Arm) and request.last:
            return partial(self.begin, os.getppid(), request, fds)
        pid = os.fork()
        if pid == 0:
            return partial(self.begin, server, request, fds)
        control, records, status, out, err = fds
        self.running[pid] = (request.key, status)
        _tell(status, {"pid": pid})
        for fd in (control, records, out, err):
            os.close(fd)
        return None

    def begin(self, server: int, request: wire.Fork, fds: list[int]) -> Task | None:
        """First thing in the process that does the work: become independent, then do it."""
        os.setpgid(0, 0)
        process.die_with_parent(server)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.control.close()
        for _, status in self.running.values():
            os.close(status)
        control, records, status, out, err = fds
        os.dup2(out, 1)
        os.dup2(err, 2)
        for fd in (status, out, err):
            os.close(fd)
        return self.work(
            request, socket.socket(fileno=control), wire.Records(records, request.token)
        )

    def reap(self) -> None:
        """Take in who ended, and end what they left and this process has adopted.

        A stray that ends may leave strays of its own.
        """
        ended = False
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            ended = True
            if pid in self.running:
                self.report(pid, status)
        if ended:
            for pid in process.children() - set(self.running):
                process.kill_group(pid)

    def report(self, pid: int, status: int) -> None:
        """Say how a child ended, and end what it left in its group."""
        _, fd = self.running.pop(pid)
        process.kill_rest_of_group(pid)
        code = os.waitstatus_to_exitcode(status)
        _tell(fd, {"code": code} if code >= 0 else {"signal": signal_name(-code)})
        os.close(fd)


def _tell(status: int, what: dict[str, int | str]) -> None:
    """Write to a status pipe. Nobody may be left to read it."""
    with contextlib.suppress(BrokenPipeError):
        os.write(status, json.dumps(what).encode() + b"\n")


def serve(control: socket.socket, work: Work) -> Task | None:
    """Fork a child that does `work` for every request on `control`, until that is closed.

    Returns None in the process that was called, a task in each child.
    """
    return _Server(control, work).serve()


def perform(task: Task | None) -> None:
    """Do a child's work to its end, and end the child. Never returns."""
    code = 70  # EX_SOFTWARE: the child's own machinery failed
    try:
        while task is not None:
            task = task()
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)
