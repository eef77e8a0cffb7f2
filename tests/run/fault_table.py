"""The README's table of faults, made of the tests that inject them.

    python tests/run/fault_table.py     writes it into README.md

A test says with ``@pytest.mark.fault("key")`` which row it belongs to.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
BEGIN, END = "<!-- faults: python tests/run/fault_table.py -->\n", "<!-- /faults -->\n"

# key -> (what is done, what is seen)
FAULTS = {
    "signals": (
        "a child dies at any stage, by any signal; so do kernels, passes, the parser",
        "stage and signal are named; the next case is well",
    ),
    "exit": (
        "it calls `_exit(0)`, raises SystemExit, hangs, eats all memory",
        "`exit: 0`, the exception, `hang`, `oom`; never ok",
    ),
    "strays": (
        "it leaves daemons, forks faster than one looks, kills or stops its parents",
        "nothing is left; who did it is told, and nobody else",
    ),
    "pipes": (
        "its results are filled with garbage, cut, forged, without end; its pipe is closed",
        "noise is passed over; a death is told as one",
    ),
    "streams": (
        "stdout and stderr are closed or flooded, the child's and the run's own",
        "128 KiB are kept, both ends; nothing blocks",
    ),
    "server": (
        "the fork server is killed, stopped, or slow to start",
        "it is ended; cases run again on a new one, one at a time",
    ),
    "state": (
        "it changes TVM's globals, the environment, folder, limits, signals, or the harness",
        "the next case does not see it",
    ),
    "stack": ("the stack overflows, in C++ and in Python", "SIGSEGV, RecursionError"),
    "text": (
        "messages of 50 MB, not UTF-8, unprintable; modules with every odd name",
        "both ends are kept; the terminal is safe",
    ),
    "imports": (
        "a module that a case requires raises, exits or crashes",
        "a fault of the cases that require it",
    ),
    "disk": (
        "the disk is full or fills up; folders are read-only; no `/dev/shm`",
        "it goes on, or says what it cannot write; whole lines stay",
    ),
    "descriptors": (
        "8 to 48 descriptors for the run; a case uses up its own",
        "it works or exits with 3; `OSError` of that case",
    ),
    "clock": (
        "the clock jumps by decades; the processor is wanted by many others",
        "limits hold, and waiting for a processor is no hang",
    ),
    "start": (
        "signals ignored or blocked, other limits, a full stdin",
        "every case sees the same",
    ),
    "interrupt": (
        "SIGINT, SIGTERM, SIGHUP or SIGKILL to the run, at any moment, more than once",
        "no process and no file left, no traceback, whole lines",
    ),
    "two": (
        "two runs in one folder; on one results file",
        "both are right; the second is refused",
    ),
    "files": (
        "a case file of any bytes; real ones with lines or values changed",
        "a case, or problems that point into it",
    ),
    "soak": ("thousands of arms on one server", "memory, descriptors, speed as at the start"),
}


class _Counting:
    """A plugin that counts the tests of each row."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            for mark in item.iter_markers("fault"):
                self.counts[mark.args[0]] += 1


def count() -> Counter[str]:
    """Tests by row, collected anew: to be called in a process of its own."""
    counting = _Counting()
    files = [str(path) for path in sorted(ROOT.glob("tests/**/test_*.py")) if _injects(path)]
    pytest.main(["--collect-only", "-qq", "-p", "no:xdist", *files], [counting])
    return counting.counts


def _injects(path: Path) -> bool:
    return "mark.fault(" in path.read_text(encoding="utf-8")


def table(counts: Counter[str]) -> str:
    """The table. Raises KeyError when rows and tests do not agree."""
    if counts.keys() != FAULTS.keys():
        raise KeyError(*(counts.keys() ^ FAULTS.keys()))
    rows = [f"| {done} | {seen} | {counts[key]} |" for key, (done, seen) in FAULTS.items()]
    head = ["| what is done to it | what is seen | tests |", "|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def main() -> None:
    made = table(count())
    text = README.read_text(encoding="utf-8")
    written = re.sub(f"{BEGIN}.*{END}", lambda _: BEGIN + made + END, text, flags=re.DOTALL)
    if "--check" not in sys.argv:
        README.write_text(written, encoding="utf-8")
    elif written != text or BEGIN + made + END not in text:
        raise SystemExit("README.md has another table of faults: python tests/run/fault_table.py")


if __name__ == "__main__":
    main()
