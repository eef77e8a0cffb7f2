"""Making cases, running them on a pool, and looking for what is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from harness import campaign
from harness.case import Case
from harness.run import process
from harness.run.pool import Pool
from harness.verdict.arm import Run
from harness.verdict.words import describe


class _Plain(yaml.SafeDumper):
    """Without anchors, which case files may not have."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


ROOT = Path(__file__).parents[2]
CASES = Path(__file__).parent / "cases"


def make_case(folder: Path, name: str = "case", **keys: Any) -> Case:
    """A case read from a file that says `keys`; all expected ok unless they say otherwise."""
    return campaign.read_case(write_case(folder, name, **keys))


def write_case(folder: Path, name: str = "case", **keys: Any) -> Path:
    """The file of a case."""
    file = folder / "repros" / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    if "module" in keys and isinstance(keys["module"], dict):
        builder = CASES / keys["module"]["python"].partition(":")[0]
        if builder.exists():
            shutil.copy(builder, file.parent)
    body = {"title": name, "expect": "ok", **keys}
    file.write_text(
        yaml.dump(body, Dumper=_Plain, sort_keys=False, allow_unicode=True), encoding="utf-8"
    )
    return file


def built(folder: Path, body: str, **keys: Any) -> Case:
    """A case whose module is made by a function with this body."""
    path = write_case(folder, **{"module": {"python": "own.py:make"}, **keys})
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    (path.parent / "own.py").write_text(f"import tvm\n\ndef make():\n{lines}")
    return campaign.read_case(path)


def report_on(case: Case, pool: Pool, **options: Any) -> campaign.CaseReport:
    """What one case comes to."""
    (report,) = campaign.run_cases([case], campaign.Options(**options), pool)
    return report


def run_once(case: Case, pool: Pool, arm: str = "stock") -> Run:
    """The telling run of one arm of a case."""
    return report_on(case, pool).judgement.arms[arm].telling


def faults(run: Run) -> list[str]:
    """``"run: crash SIGSEGV"`` for every stage that failed, without places and messages."""
    return [
        f"{result.stage.value}: {_head(describe(result))}" for result in run.stages if result.failed
    ]


def _head(text: str) -> str:
    return text.partition(" at ")[0].partition(": ")[0]


def start_cli(*args: str, prefix: Sequence[str] = (), **keywords: Any) -> subprocess.Popen[bytes]:
    """The command line in a process of its own, behind the command `prefix`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **keywords.pop("env", {})}
    # Whatever started the tests may ignore it, which is inherited.
    keywords.setdefault("preexec_fn", lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    return subprocess.Popen(
        [*prefix, sys.executable, "-m", "harness.cli", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        **keywords,
    )


def run_cli(*args: str, **keywords: Any) -> subprocess.CompletedProcess[str]:
    """What the command line says and returns; keywords are those of `start_cli`."""
    run = start_cli(*args, **keywords)
    try:
        out, err = (text.decode() for text in run.communicate(timeout=120))
    finally:
        run.kill()
    return subprocess.CompletedProcess(args, run.returncode, out, err)


def marked(pid: int) -> set[int]:
    """Processes whose environment says that a server of process `pid` is their ancestor."""
    mark = f"TVM_REPRO_SERVER={pid}-".encode()
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes():
                found.add(int(folder.name))
        except OSError:
            continue
    return found


def left_by(pid: int, patience: float = 10.0) -> set[int]:
    """What servers of process `pid` leave running, once it has had a moment to go.

    Servers of this very process are meant to be running, and are its children; no other is.
    """
    deadline = time.monotonic() + patience
    while left := marked(pid) - (process.children() if pid == os.getpid() else set()):
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    return left


def wait_for(what: Callable[[], object], patience: float = 60.0) -> None:
    """Return once it is so."""
    deadline = time.monotonic() + patience
    while not what():
        assert time.monotonic() < deadline, "in vain"
        time.sleep(0.02)


def servers(pool: Pool) -> set[int]:
    """The servers that a pool keeps, which are meant to be running."""
    return {server.process.pid for server in pool._servers.values()}
