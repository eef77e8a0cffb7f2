"""Whether one fork server is after ten thousand arms what it was at the start.

    python -m benchmarks.soak [--arms N] [--jobs N]

Runs the built-in cases (sound, ill-formed, an exception, a crash, a silent exit, a hang, a memory
blow-up, a wrong value) in rounds of a hundred arms. Prints memory, descriptors, what was left, and
speed at the start, in the middle and at the end. Exit code 1 when something grew beyond its bound,
an arm was misjudged, or the server was lost on the way.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness import campaign
from harness.case import Case, load_case
from harness.run.pool import Pool

# Arms of a round. Half of them are forked by a loader, half are what a loader becomes.
ROUND = {
    "good": 30,
    "exception": 20,
    "wrong-value": 14,
    "segfault": 14,
    "silent-exit": 10,
    "ill-formed": 10,
    "hang": 1,
    "memory": 1,
}
MEMORY = 8.0  # MiB that server and parent may each grow
SLOWER = 1.25  # what an arm may cost at the end, of what it cost at the start
PATIENCE = 10.0  # seconds for what has been told to end
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Sample:
    """The server and the parent between two rounds.

    Memory in MiB, `busy` in CPU seconds of the server and all that it has forked, since the start.
    """

    arms: int
    seconds: float
    busy: float
    server: int
    server_rss: float
    parent_rss: float
    server_descriptors: int
    parent_descriptors: int
    children: int
    files: int


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table; `bound` is what the last value may be, in words, and whether it is."""

    what: str
    values: tuple[float, float, float]
    bound: str
    holds: bool


def cases_of(arms_of: Mapping[str, int]) -> list[Case]:
    """Built-in cases with that many arms, each case a file of its own as far as one can tell."""
    cases: list[Case] = []
    for name, arms in arms_of.items():
        case = load_case(campaign.CANARIES / f"{name}.yaml")
        for number in range(max(1, arms // 2)):
            path = case.path.with_name(f"{name}-{number}.yaml")
            one = {"id": f"{name}-{number}", "path": path, "repeat": min(arms, 2)}
            cases.append(case.model_copy(update=one))
    return cases


def soak(pool: Pool, cases: list[Case], rounds: int, jobs: int) -> Iterator[Sample]:
    """Run rounds on an entered pool; yield a sample after each. Raises SystemExit if misjudged."""
    arms = sum(case.repeat for case in cases)
    started = time.monotonic()
    for number in range(1, rounds + 1):
        for report in campaign.run_cases(cases, campaign.Options(jobs=jobs), pool):
            if not report.verdict.passes:
                raise SystemExit(f"{report.case.id}: {report.judgement.reason}")
        yield sample(server_of(pool), number * arms, time.monotonic() - started)


def server_of(pool: Pool) -> int:
    """The process id of the server that forks for cases which need nothing else."""
    return pool._servers[False, ()].process.pid


def sample(server: int, arms: int, seconds: float) -> Sample:
    deadline = time.monotonic() + PATIENCE
    while children_of(server) and time.monotonic() < deadline:
        time.sleep(0.01)
    return Sample(
        arms,
        seconds,
        busy(server),
        server,
        memory(server),
        memory(os.getpid()),
        descriptors(server),
        descriptors(os.getpid()),
        len(children_of(server)),
        len(list(scratch_of(server).rglob("*"))),
    )


def memory(pid: int) -> float:
    """Resident memory, MiB."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1]) / 1024
    raise LookupError(pid)


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def children_of(pid: int) -> list[str]:
    """Its children, dead ones that it has not waited for included."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [child for task in tasks for child in (task / "children").read_text().split()]


def scratch_of(server: int) -> Path:
    """Where its children put temporary files."""
    entries = Path(f"/proc/{server}/environ").read_bytes().split(b"\0")
    (folder,) = (one for one in entries if one.startswith(b"TVM_REPRO_SCRATCH="))
    return Path(os.fsdecode(folder.partition(b"=")[2]))


def busy(pid: int) -> float:
    """CPU seconds of a process and of all that it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICK


def table(samples: list[Sample]) -> list[Row]:
    """What was measured at the start, in the middle and at the end, held against the bounds."""
    tenth = max(1, len(samples) // 10)
    half = len(samples) // 2
    ends = tenth, half, len(samples) - 1  # the first tenth is warm-up
    first, middle, last = (samples[index] for index in ends)
    spans = [(samples[end - tenth], samples[end]) for end in ends]
    one = (first, middle, last)
    costs = [(b.busy - a.busy) / (b.arms - a.arms) * 1000 for a, b in spans]
    rates = [(b.arms - a.arms) / (b.seconds - a.seconds) for a, b in spans]
    rows = [
        _grown("server RSS, MiB", [each.server_rss for each in one], MEMORY),
        _grown("parent RSS, MiB", [each.parent_rss for each in one], MEMORY),
        _grown("server descriptors", [each.server_descriptors for each in one], 0),
        _grown("parent descriptors", [each.parent_descriptors for each in one], 0),
        _grown("children left", [each.children for each in one], 0),
        _grown("temporary files left", [each.files for each in one], 0),
        _row("CPU of an arm, ms", costs, f"<= {SLOWER} x start", costs[2] <= SLOWER * costs[0]),
        _row("arms a second", rates, "", True),
    ]
    same = len({each.server for each in samples}) == 1
    return [*rows, _row("server process", [each.server for each in one], "the same", same)]


def _grown(what: str, values: list[float], most: float) -> Row:
    bound = f"<= start + {most:g}" if most else "= start"
    return _row(what, values, bound, values[2] <= values[0] + most)


def _row(what: str, values: list[float], bound: str, holds: bool) -> Row:
    first, middle, last = values
    return Row(what, (first, middle, last), bound, holds)


def _cell(value: float) -> str:
    return f"{value:10.1f}" if value % 1 else f"{value:10.0f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    cases = cases_of(ROUND)
    rounds = max(3, -(-options.arms // sum(ROUND.values())))
    with Pool(options.jobs) as pool:
        print(f"TVM {pool.info.tvm} with ffi {pool.info.tvm_ffi}, Python {pool.info.python}")
        samples = []
        for each in soak(pool, cases, rounds, options.jobs):
            samples.append(each)
            print(f"\r{each.arms} arms", end="", file=sys.stderr)
    print(file=sys.stderr)
    print(f"{samples[-1].arms} arms in {samples[-1].seconds:.0f} s, {options.jobs} at a time")
    rows = table(samples)
    print(f"{'':22}{'start':>10}{'middle':>10}{'end':>10}")
    for row in rows:
        values = "".join(map(_cell, row.values))
        print(f"{row.what:22}{values}  {row.bound}{'' if row.holds else '  <-- does not hold'}")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
