"""What a child asks of the operating system: limits, its own group, no orphans."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from pathlib import Path

STACK_BYTES = 8 << 20
_SIGNAL_STACK_BYTES = 1 << 20
_SWEEPS = 1000
_QUIET_SWEEPS = 3
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None, use_errno=True)
_libc.malloc.restype = ctypes.c_void_p


def pin_stack() -> None:
    """Start this program again under an 8 MiB stack, unless it has one.

    How deep an expression may be before TVM overflows depends on the stack limit, and the kernel
    reads it at exec; without this the same case would fail on one desk and pass on another.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    allowed = hard == resource.RLIM_INFINITY or hard >= STACK_BYTES
    if soft != STACK_BYTES and allowed:
        resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES, hard))
        os.execv(sys.executable, sys.orig_argv)


def limit_memory(megabytes: int) -> None:
    """Bound the address space of this process, now that TVM is imported (MiB)."""
    wanted = megabytes << 20
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


class _Stack(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


def enlarge_signal_stack() -> None:
    """Give the handlers of fatal signals room; a child inherits it, in pages of its own."""
    base = _libc.malloc(ctypes.c_size_t(_SIGNAL_STACK_BYTES))  # for good: the kernel uses it
    _libc.sigaltstack(ctypes.byref(_Stack(base, 0, _SIGNAL_STACK_BYTES)), None)


def reset_signals() -> None:
    """Forget what was ignored or blocked where the run was started, by nohup for instance.

    What Python itself ignores stays so, and an interrupt is an exception. A shell lets what it
    starts in the background ignore that one.
    """
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def open_closed_streams() -> None:
    """Put the null device where one of the standard streams is closed.

    Else the next file that is opened takes its number, and what is printed lands in that.
    """
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


def no_core_dumps() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def die_with_parent(parent: int) -> None:
    """Be killed when `parent` dies, even if it is killed; at once if it is dead already."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def adopt_orphans() -> None:
    """Become the parent of whatever a child leaves behind, so that it can be ended."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)


def children() -> set[int]:
    """Ids of this process's direct children, adopted ones included."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        try:
            found |= {int(pid) for pid in (task / "children").read_text().split()}
        except OSError:
            continue  # the thread ended meanwhile
    return found


def end_family() -> None:
    """SIGKILL to all children, then to those they leave to this process, until there are none."""
    while True:
        for pid in children():
            kill_group(pid)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def kill_group(pid: int) -> None:
    """SIGKILL to the group that `pid` leads, and to `pid` should it not lead one yet."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        kill_one(pid)


def kill_rest_of_group(pid: int) -> None:
    """SIGKILL to what a leader that has been reaped left in its group, all at once.

    Its own id may be reused, so unlike `kill_group` this never turns to a single process.
    """
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def end_marked(mark: str) -> None:
    """SIGKILL to every process that was started with `mark` in its environment.

    The last resort after a server: what slipped out of its group, and out of its family too when
    the server itself was killed, still carries the environment it was born with. A process may
    fork and be gone while this looks at it, so this looks until there is nobody new; more than
    once, as ids start again from below and a list of them is not made at one instant.
    """
    seen, quiet = {os.getpid()}, 0
    for _ in range(_SWEEPS):
        fresh = _processes() - seen
        for pid in fresh:
            if _has_mark(pid, mark.encode()):
                kill_one(pid)
        quiet = 0 if fresh else quiet + 1
        if quiet == _QUIET_SWEEPS:
            return
        seen |= fresh


def _processes() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdecimal()}


def _has_mark(pid: int, mark: bytes) -> bool:
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False  # somebody else's, or gone


def kill_one(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def waited(pid: int) -> float:
    """How long a process has been ready to run without a processor (s); 0 where nobody knows."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0  # gone, or a kernel that does not count
