"""The fork server: TVM imported once, a child for every request.

The same loop serves at two levels. The server forks a *loader* for a case; the loader parses the
module once and then serves too, forking a child for every arm. Only the process that forked a
child reports how it ended, on a status pipe that the child itself does not hold.
"""

from __future__ import annotations

import faulthandler
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.run import process, wire

# What a child does: takes the request, its control socket and its records pipe.
Work = Callable[[wire.Request, socket.socket, wire.Records], None]


@dataclass(slots=True)
class _Server:
    control: socket.socket
    work: Work
    # pid -> (key of its request, status pipe)
    running: dict[int, tuple[int, int]] = field(default_factory=dict)

    def serve(self) -> None:
        """Answer requests until the other side closes; then end all children and return."""
        process.adopt_orphans()
        wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only there to wake the loop
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
                self.answer(*received)
        for pid in self.running:
            process.kill_group(pid)
        self.end_strays(known=set())

    def answer(self, request: wire.Request, fds: list[int]) -> None:
        if isinstance(request, wire.Kill):
            for pid, (key, _) in self.running.items():
                if key == request.key:
                    process.kill_group(pid)
            return
        control, records, status, out, err = fds
        for fd in fds:
            os.set_inheritable(fd, False)
        server = os.getpid()
        pid = os.fork()
        if pid == 0:
            os.close(status)
            for _, other_status in self.running.values():
                os.close(other_status)
            self.become_child(server, request, (control, records, out, err))
        self.running[pid] = (request.key, status)
        for fd in (control, records, out, err):
            os.close(fd)

    def become_child(
        self, server: int, request: wire.Fork, fds: tuple[int, int, int, int]
    ) -> None:
        """Run the work in this fresh child, and end it. Never returns."""
        code = 70  # EX_SOFTWARE: the child's own machinery failed
        try:
            os.setpgid(0, 0)
            process.die_with_parent(server)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control, records, out, err = fds
            self.control.close()
            os.dup2(out, 1)
            os.dup2(err, 2)
            os.close(out)
            os.close(err)
            self.work(request, socket.socket(fileno=control), wire.Records(records, request.token))
            code = 0
        except BrokenPipeError:
            pass  # the parent is gone: nobody is left to tell
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(code)

    def reap(self) -> None:
        ended = False
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid in self.running:
                ended = True
                self.report(pid, status)
        if ended:
            self.end_strays(known=set(self.running))

    def report(self, pid: int, status: int) -> None:
        """Say how a child ended, and end what it left in its group."""
        _, fd = self.running.pop(pid)
        process.kill_rest_of_group(pid)
        code = os.waitstatus_to_exitcode(status)
        end = {"code": code} if code >= 0 else {"signal": signal.Signals(-code).name}
        try:
            os.write(fd, json.dumps(end).encode() + b"\n")
        except BrokenPipeError:
            pass
        os.close(fd)

    def end_strays(self, known: set[int]) -> None:
        """End processes that slipped out of their group and were adopted by this one."""
        for pid in process.children() - known:
            process.kill_group(pid)


def serve(control: socket.socket, work: Work) -> None:
    """Fork a child that does `work` for every request on `control`, until that is closed."""
    _Server(control, work).serve()


def _load(request: wire.Request, control: socket.socket, records: wire.Records) -> None:
    from harness.run import child

    child.load(request, control, records)


def _alone(request: wire.Request, control: socket.socket, records: wire.Records) -> None:
    control.close()
    from harness.run import child  # imports TVM, here and not in the server

    faulthandler.enable()
    child.alone(request, records)


def main() -> None:
    """Entry of the server process: ``python -m harness.run.server CONTROL_FD [--cold]``."""
    process.pin_stack()
    process.no_core_dumps()
    control = socket.socket(fileno=int(sys.argv[1]))
    if "--cold" in sys.argv:
        serve(control, _alone)
        return
    from harness.run import child, warm  # imports TVM

    # After the import: TVM's own handler prints the native backtrace, this one the Python stack.
    faulthandler.enable()
    control.sendall(json.dumps(child.tvm_info().as_dict()).encode() + b"\n")
    warm.warm_up()
    serve(control, _load)


if __name__ == "__main__":
    main()
