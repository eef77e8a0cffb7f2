"""Runs arms in child processes, several at a time, and hands out what was seen of each."""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Literal

from harness.case import signal_name
from harness.run.host import Child, Server
from harness.run.lane import Job, Lane, Outcome
from harness.run.trace import End, Stopped, TvmInfo

Isolation = Literal["fork", "spawn"]
Kind = tuple[bool, tuple[str, ...]]  # of a server: whether it is cold, and what it imports


class Pool:
    """A fork server and up to `jobs` lanes at work. A context manager.

    Parameters
    ----------
    jobs : int
        How many groups of jobs run at the same time.
    isolation : {"fork", "spawn"}
        ``spawn`` imports TVM anew for each arm; cases for devices that do not survive a fork get
        that in any case.
    within : sequence of str
        A command that starts each server in a sandbox: see `harness.run.sandbox`.

    Raises
    ------
    ServerError
        When TVM cannot be imported, on entry; or when the server cannot be started again.
    """

    def __init__(
        self, jobs: int = 1, isolation: Isolation = "fork", within: Sequence[str] = ()
    ) -> None:
        self._limit = max(1, jobs)
        self._isolation = isolation
        self._within = within
        self._servers: dict[Kind, Server] = {}
        self._deadly: set[Kind] = set()  # which died, perhaps of what they imported
        self._info: TvmInfo | None = None

    def __enter__(self) -> Pool:
        self._info = self._server(False, ()).info
        return self

    def __exit__(self, *_: object) -> None:
        while self._servers:
            self._servers.popitem()[1].close()

    @property
    def info(self) -> TvmInfo:
        """The TVM that the children run."""
        assert self._info is not None, "enter the pool first"
        return self._info

    def run(self, groups: Iterable[Sequence[Job]]) -> Generator[Outcome, None, None]:
        """Run all jobs; yield each with its trace, as they end.

        The jobs of a group have the same module: it is parsed once, and they run one behind the
        other. Groups run side by side. The next group is asked for when there is room for it, so
        that `groups` may depend on what has ended; whoever closes the iterator ends what runs.
        """
        spawn = self._isolation == "spawn"
        waiting = (Lane(group, self._server, spawn) for group in groups)
        more = True
        active: list[Lane] = []
        # Lanes that lost their server: they run one at a time, so that the culprit is known.
        suspects: deque[Lane] = deque()
        try:
            while more or active or suspects:
                while more and not suspects and len(active) < self._limit:
                    lane = next(waiting, None)
                    more = lane is not None
                    active += [lane] if lane else []
                if suspects and not active:
                    active.append(suspects.popleft())
                lost = self._turn(active)
                for lane in active:
                    yield from lane.settle()
                for server in lost:
                    yield from _blame(server, active, suspects)
                for lane in [lane for lane in active if not lane.jobs]:
                    lane.abandon()
                    active.remove(lane)
        finally:
            for lane in active:
                lane.abandon()

    def _server(self, cold: bool, modules: tuple[str, ...]) -> Server:
        kind = cold, modules
        if kind not in self._servers:
            safe = () if kind in self._deadly else modules
            self._servers[kind] = Server(cold, safe, self._within)
        return self._servers[kind]

    def _turn(self, active: list[Lane]) -> list[Server]:
        """Start what can start, wait for news, take it in; tells which servers were lost."""
        try:
            for lane in active:
                lane.advance()
        except OSError:
            pass  # a server has gone: seen below
        self._wait([child for lane in active for child in lane.children()])
        now = time.monotonic()
        for lane in active:
            if not lane.enforce_time(now) and lane.server is not None:
                lane.server.process.kill()
        lost = {kind: server for kind, server in self._servers.items() if not server.alive()}
        for kind, server in lost.items():
            server.close()
            del self._servers[kind]
            self._deadly.add(kind)
        return list(lost.values())

    def _wait(self, children: list[Child]) -> None:
        """Sleep until somebody says something or a time limit runs out."""
        poll = select.poll()
        owners = {fd: child for child in children for fd in child.open}
        for fd in [*owners, *(fd for server in self._servers.values() for fd in server.fds)]:
            poll.register(fd, select.POLLIN)
        now = time.monotonic()
        patience = min((child.next_limit - now for child in children), default=0.0)
        for fd, _ in poll.poll(min(max(patience, 0.0), 60.0) * 1000 + 1):
            if fd in owners:
                owners[fd].read(fd)


def _end_of(returncode: int) -> End:
    if returncode < 0:
        return End(Stopped.ITSELF, signal=signal_name(-returncode))
    return End(Stopped.ITSELF, code=returncode)


def _blame(server: Server, active: list[Lane], suspects: deque[Lane]) -> Iterator[Outcome]:
    """After the loss of a server: who was alone on it did it; of several, each is tried alone."""
    there = [lane for lane in active if lane.server is server]
    if len(there) == 1:
        yield from there[0].lose(_end_of(server.process.returncode))
    for lane in there:
        lane.abandon()
        active.remove(lane)
        if lane.jobs:
            suspects.append(lane)
