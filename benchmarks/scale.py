"""What 1,000 cases cost: to list the command's help, to check, to collect, to run, and in memory.

    python -m benchmarks.scale [--cases 1000] [--no-run]

The cases are those of ``repros/`` that have two arms, without their contrasts, with copies of them
under other names: so 1,000 cases are 2,000 runs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from harness import campaign
from harness.case import discover
from harness.case.edit import REMOVED, edited
from harness.case.writing import put

ROOT = Path(__file__).parents[1]
PYTHON = [sys.executable, "-m"]
_PAUSE = 0.2  # seconds between two looks at the memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-run", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied = copy_cases(folder, options.cases)
        print(f"{copied} case files, each with two arms; least of {options.rounds} times")
        empty = least([sys.executable, "-c", "pass"], folder, options.rounds)
        print(f"{'an interpreter that does nothing':<34} {empty:8.2f} s")
        collect = [*PYTHON, "pytest", "repros", "--collect-only", "-qq", "-p", "no:cacheprovider"]
        for what, command in (
            ("tvm-repro --help", [*PYTHON, "harness.cli", "--help"]),
            ("tvm-repro lint", [*PYTHON, "harness.cli", "lint", "repros"]),
            ("pytest --collect-only", collect),
        ):
            took = least(command, folder, options.rounds)
            print(f"{what:<34} {took:8.2f} s  {took / empty:6.1f} times that")
        if not options.no_run:
            alone, _ = watched([sys.executable, "-c", "import tvm"], folder)
            print(f"{'import tvm':<34} {alone:8.2f} s")
            command = [*PYTHON, "harness.cli", "run", "repros", "-j", "2"]
            took, memory = watched(command, folder)
            print(f"{f'tvm-repro run -j 2, {copied} cases':<34} {took:8.2f} s")
            print(f"{'most memory meanwhile':<34} {memory:8.0f} MiB, shared pages counted once")


def copy_cases(folder: Path, number: int) -> int:
    """Fill `folder` with a corpus of `number` cases that have two arms."""
    shutil.copy(ROOT / "conftest.py", folder)
    own = [campaign.read_case(path) for path in discover([ROOT / "repros"])]
    paths = [case.path for case in own if case.fix and not case.requires]
    for index in range(number):
        source = paths[index % len(paths)]
        target = folder / "repros" / source.parent.name / str(index // len(paths))
        target.mkdir(parents=True, exist_ok=True)
        text = source.read_text(encoding="utf-8")
        put(target / source.name, edited(text, {("contrasts",): REMOVED}))
        for beside in source.parent.glob("*.py"):
            shutil.copy(beside, target)
    return number


def least(command: Sequence[str], folder: Path, rounds: int) -> float:
    """The shortest of several times (s): the others had company."""
    return min(timed(command, folder) for _ in range(rounds))


def timed(command: Sequence[str], folder: Path) -> float:
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def watched(command: Sequence[str], folder: Path) -> tuple[float, float]:
    """Time (s) and most memory (MiB) of a command and all that it starts."""
    most = 0.0
    done = threading.Event()
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, start_new_session=True
    )

    def look() -> None:
        nonlocal most
        while not done.wait(_PAUSE):
            most = max(most, sum(map(proportional, family(process.pid))))

    watcher = threading.Thread(target=look)
    watcher.start()
    process.wait()
    took = time.perf_counter() - started
    done.set()
    watcher.join()
    return took, most


def family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for parent in found:
        try:
            children = Path(f"/proc/{parent}/task/{parent}/children").read_text()
        except OSError:
            continue
        found += map(int, children.split())
    return found


def proportional(pid: int) -> float:
    """The memory of a process (MiB), a page that several share counted in parts."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


if __name__ == "__main__":
    main()
