"""Environments with other releases of TVM: made by tox once, kept, and used side by side."""

from __future__ import annotations

import configparser
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

_INI = Path(__file__).parents[2] / "tox.ini"
_T = TypeVar("_T")


class EnvironmentFailed(Exception):
    """An environment cannot be made; the text says which, and what tox said."""


@dataclass(frozen=True, slots=True)
class Environment:
    """One environment of ``tox.ini``, ready to run."""

    name: str
    python: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run ``tvm-repro`` in it, from where we are."""
        command = [str(self.python), "-m", "harness.cli", *arguments]
        env = {**os.environ, "PYTHONPATH": str(_INI.parent), "PYTHONSAFEPATH": "1"}
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def names() -> list[str]:
    """The environments for releases of TVM, the oldest first.

    Raises
    ------
    EnvironmentFailed
        When the harness was installed without its ``tox.ini``.
    """
    ini = configparser.ConfigParser(interpolation=None)
    if not ini.read(_INI):
        raise EnvironmentFailed(
            f"no {_INI}: run this from a checkout, installed with `pip install -e`"
        )
    listed = ini["tox"]["envlist"].replace(",", " ").split()
    return [name for name in listed if name.startswith("tvm")]


def environments(chosen: Sequence[str]) -> list[Environment]:
    """Make what is missing of the environments `chosen`.

    Raises
    ------
    EnvironmentFailed
        When tox is not there, knows no such environment, or cannot install a TVM.
    """
    root = _INI.parent
    tox = [sys.executable, "-m", "tox", "-c", str(_INI)]
    command = [*tox, "run", "--notest", "-q", "-e", ",".join(chosen)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
        hint = (
            "; `pip install tox` is what is missing" if "No module named tox" in done.stderr else ""
        )
        raise EnvironmentFailed(f"{', '.join(chosen)}: {' '.join(said)}{hint}")
    return [Environment(name, root / ".tox" / name / "bin" / "python") for name in chosen]


def side_by_side(items: Iterable[_T], work: Callable[[_T], object], jobs: int) -> None:
    """Do `work` on all items, as many at a time as cores are left when each takes `jobs`."""
    cores = len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(max(1, cores // jobs)) as pool:
        for future in [pool.submit(work, item) for item in items]:
            future.result()
