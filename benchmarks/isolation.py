"""What isolation costs: the same cases in one process, under the fork server, and as one fresh
interpreter each; side by side, in turn, in one run.

    python -m benchmarks.isolation [--rounds N] [CASE_OR_FOLDER ...]

Cases that kill their process are left out.

The three are timed from the first case to the last. Starting the first two (import of TVM and
warm-up) is not part of it and is shown apart; a fresh interpreter starts anew for every case, so
that is what it costs; it is slow, and takes part once, with every fifth case. Prints the medians
over the rounds, and their ratios.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.case import Case, discover, kinds, load_case
from harness.run.lane import Job
from harness.run.pool import Pool

FRESH = 5  # every so many cases run in a fresh interpreter


def stays_alive(case: Case) -> bool:
    """Whether the case can be run in one process with others, and needs nothing else there."""
    return not case.requires and not {"crash", "exit", "hang", "memory"} & set(kinds(case))


def jobs_of(case: Case) -> list[Job]:
    return [Job(case, arm) for arm in case.arms]


def run_in_process(cases: Sequence[Case]) -> None:
    """All stages of all arms, without isolation."""
    from harness.run import stages, watch, wire
    from harness.run.load import load_module
    from harness.run.narrate import Narrator

    with open(os.devnull, "wb", buffering=0) as sink:
        narrator = Narrator(wire.Records(sink.fileno(), ""))
        for case in cases:
            try:
                module = load_module(case)
            except Exception:
                continue  # which the case expects
            for job in jobs_of(case):
                stages.run_arm(case, job.arm, module, narrator, watch.Watch())


@contextmanager
def in_process(paths: Sequence[Path]) -> Iterator[Callable[[], None]]:
    """A warm process of its own that runs the cases once for every line it is sent."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.isolation", "--serve", *map(str, paths)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None and process.stdout is not None

        def once() -> None:
            assert process.stdin is not None and process.stdout is not None
            print("go", file=process.stdin, flush=True)
            if process.stdout.readline().strip() != "done":
                raise SystemExit("the process without isolation died: leave crashing cases out")

        process.stdout.readline()
        yield once
        process.stdin.close()


def serve_in_process(cases: Sequence[Case]) -> None:
    from harness.run import warm

    warm.warm_up()
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what cases print is not part of the conversation
    print("ready", file=channel, flush=True)
    for _ in sys.stdin:
        run_in_process(cases)
        print("done", file=channel, flush=True)


def run_fresh(paths: Sequence[Path]) -> None:
    for path in paths:
        command = [sys.executable, "-m", "benchmarks.isolation", "--once", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure(cases: Sequence[Case], rounds: int) -> None:
    paths = [case.path for case in cases]
    arms = sum(len(jobs_of(case)) for case in cases)
    print(f"{len(cases)} cases, {arms} arms, {rounds} rounds")
    plain: list[float] = []
    isolated: list[float] = []
    with in_process(paths) as once, Pool(jobs=1) as pool:
        print(f"TVM {pool.info.tvm} with ffi {pool.info.tvm_ffi}, Python {pool.info.python}")

        def forked() -> None:
            for _ in pool.run([jobs_of(case) for case in cases]):
                pass

        once()
        forked()  # warm-up of both
        for _ in range(rounds):
            plain.append(timed(once))
            isolated.append(timed(forked))
    some = paths[::FRESH]
    alone = timed(lambda: run_fresh(some)) * len(paths) / len(some)
    base = statistics.median(isolated)
    for name, seconds in (
        ("one process, no isolation", statistics.median(plain)),
        ("fork server", base),
        ("fresh interpreter each", alone),
    ):
        print(f"{name:28} {seconds / len(cases) * 1000:8.1f} ms a case")
    ratios = [one / other for one, other in zip(isolated, plain, strict=True)]
    spread = f"({min(ratios):.2f} to {max(ratios):.2f})"
    print(f"isolated / in-process          {statistics.median(ratios):6.2f} {spread}")
    print(f"fresh interpreter / isolated   {alone / base:6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, default=[Path("repros")])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    cases = [case for case in map(load_case, discover(options.paths)) if stays_alive(case)]
    if options.serve:
        serve_in_process(cases)
    elif options.once:
        run_in_process(cases)
    else:
        measure(cases, options.rounds)


if __name__ == "__main__":
    main()
