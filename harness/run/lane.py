"""Jobs on one module, one behind the other, and the processes that serve them."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from harness.case import Case
from harness.run import host, wire
from harness.run.host import Child
from harness.run.trace import ArmTrace, End, Stopped
from harness.run.watch import NOTHING, Watch

# Device runtimes that do not survive a fork: their children import TVM for themselves.
_UNFORKABLE = frozenset({"cuda", "rocm", "opencl", "vulkan", "metal", "hexagon", "webgpu"})
_CLEAN = End(Stopped.ITSELF, code=0, final=True)
_keys = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Job:
    """One run of one arm of one case; `watch` as in `wire.Arm`."""

    case: Case
    arm: str
    watch: Watch = NOTHING


Outcome = tuple[Job, ArmTrace]


class Lane:
    """Takes its jobs through a loader and its arms.

    Parameters
    ----------
    jobs : sequence of Job
        All on the same module.
    server : callable
        Gives the server, cold or with the modules named.
    spawn : bool
        Import TVM anew for each job.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        server: Callable[[bool, tuple[str, ...]], host.Server],
        spawn: bool,
    ) -> None:
        self.jobs = deque(jobs)
        self.server: host.Server | None = None  # that its processes come from
        self._serving = server
        self._modules = tuple(sorted({name for job in jobs for name in job.case.requires}))
        self._spawn = spawn or any(_target_kind(job.case) in _UNFORKABLE for job in jobs)
        self._loader: Child | None = None
        self._arm: Child | None = None
        self._load_counted = False
        self._unheard = False  # a server went before it had forked what it was asked for

    def children(self) -> list[Child]:
        return [child for child in (self._loader, self._arm) if child is not None]

    def advance(self) -> None:
        """Start what comes next: the loader, or the next arm. Raises OSError: no server."""
        if not self.jobs or self._arm is not None:
            return
        job = self.jobs[0]
        case, key, token = job.case, next(_keys), host.fresh_token()
        if self._spawn:
            alone = wire.Alone(key, token, case, job.arm, job.watch)
            self.server = self._serving(True, ())
            self._arm = Child(self.server.control, alone, case.limits.seconds, host.STARTUP_SECONDS)
        elif self._loader is None:
            load = wire.Load(key, token, case)
            self.server = self._serving(False, self._modules)
            # A server that was just started is still busy with its imports.
            self._loader = Child(
                self.server.control, load, case.limits.seconds, host.STARTUP_SECONDS
            )
            self._load_counted = False
        elif self._loader.transcript.loaded:
            last = len(self.jobs) == 1
            arm = wire.Arm(key, token, case, job.arm, job.watch, last)
            self._arm = Child(self._loader.control, arm, case.limits.seconds)
            if last:
                # The loader has become the arm: only the server can end it.
                self._arm.via, self._arm.key = self._loader.via, self._loader.key
                self._arm.pid = self._loader.pid

    def settle(self) -> Iterator[Outcome]:
        """Hand out what has ended."""
        loader, arm = self._loader, self._arm
        loader_ended = loader is not None and loader.ended is not None
        if arm is not None:
            if arm.ended is None and loader is not None:
                # When it has one: the loader was the arm, or the arm took its loader along.
                arm.ended = loader.ended
            if arm.ended is not None:
                yield self._finish(arm.end())
        if loader is not None and loader_ended:
            if not loader.transcript.loaded:
                yield from self._fail_to_load(loader)
            loader.close()
            self._loader = None

    def enforce_time(self, now: float) -> bool:
        """Kill what is over its time; False when only killing the server can help."""
        loader = self._loader
        if loader is not None and loader.transcript.loaded and loader.killed_at is None:
            loader.deadline = float("inf")  # from now on the arms have limits
        for child in self.children():
            if child.ended is not None or not child.late(now):
                continue
            if child.killed_at is None:
                child.kill()
            elif child is self._arm and self._loader and self._loader.killed_at is None:
                self._loader.kill()  # it does not answer: end the two of them
            elif now > child.killed_at + 3 * host.GRACE_SECONDS:
                return False
        return True

    def lose(self, end: End) -> Iterator[Outcome]:
        """The server died with this lane alone on it: its current job did that.

        Or the server was killed because it did not end the job, whose time was over. One that had
        not begun the job may have been dying before: the job is kept for the next, once.
        """
        if (child := self._arm or self._loader) is not None:
            child.drain()
            if child.killed_at is not None:
                end = child.end()
            elif not child.pid and not self._unheard:
                self._unheard = True
                return
        if self._arm is not None:
            yield self._finish(end)
        elif self._loader is not None and self.jobs:
            job = self.jobs.popleft()
            yield job, _load_trace(self._loader, job.arm, end)
        self.abandon()

    def abandon(self) -> None:
        """Let go of the processes: they end when their control socket closes."""
        for child in self.children():
            if child.ended is None:
                child.kill()
            child.close()
        self._loader = self._arm = None

    def _finish(self, end: End) -> Outcome:
        arm, loader = self._arm, self._loader
        assert arm is not None
        arm.drain()
        job, told = self.jobs.popleft(), arm.transcript
        steps, started = tuple(told.steps), arm.started
        if loader is not None:
            steps = (*loader.transcript.steps, *steps)
            if not self._load_counted:
                started = loader.started
                self._load_counted = True
        if told.loaded is False and end.code == 0:
            end = _CLEAN  # it could not load, said so, and went
        trace = ArmTrace(
            job.arm,
            steps,
            end,
            dict(told.absent),
            arm.out.text(),
            arm.err.text(),
            told.globals,
            told.fix,
            told.ir,
            tuple(told.passes.values()),
            time.monotonic() - started,
        )
        arm.close()
        self._arm = None
        return job, trace

    def _fail_to_load(self, loader: Child) -> Iterator[Outcome]:
        loader.drain()
        end = _CLEAN if loader.transcript.loaded is False else loader.end()
        while self.jobs:
            job = self.jobs.popleft()
            yield job, _load_trace(loader, job.arm, end)


def _load_trace(loader: Child, arm: str, end: End) -> ArmTrace:
    return ArmTrace(
        arm,
        tuple(loader.transcript.steps),
        end,
        stdout=loader.out.text(),
        stderr=loader.err.text(),
        seconds=time.monotonic() - loader.started,
    )


def _target_kind(case: Case) -> str:
    target = case.build.target
    if isinstance(target, str):
        return target.split(maxsplit=1)[0] if target.strip() else ""
    return str(target.get("kind", ""))
