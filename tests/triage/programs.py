"""What an exported program said, as a trace that can be held against the case it comes from."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from harness.case import Case
from harness.run.trace import ArmTrace, End, Raised, Stage, Step, Stopped, TvmInfo
from harness.verdict.expectation import differences
from harness.verdict.outcome import stages

_STEP = re.compile(rf"^== ({'|'.join(stage.value for stage in Stage)})(?: (\S+))?$", re.MULTILINE)
_FAILED = re.compile(r"^(\w+): ?(.*)\Z", re.MULTILINE | re.DOTALL)


class Runner:
    """A process with TVM imported, that runs programs in forks of itself."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._folder = folder

    def run(self, program: Path) -> tuple[int, str, str]:
        """Exit code (minus the signal's number), output, errors."""
        out, err = (self._folder / f"{program.stem}.{end}" for end in ("out", "err"))
        line = json.dumps({"program": str(program), "out": str(out), "err": str(err)})
        assert self._process.stdin is not None and self._process.stdout is not None
        print(line, file=self._process.stdin, flush=True)
        ended = json.loads(self._process.stdout.readline())
        return ended["code"], out.read_text(errors="replace"), err.read_text(errors="replace")


@contextmanager
def runner(folder: Path, modules: Sequence[str]) -> Iterator[Runner]:
    command = [sys.executable, str(Path(__file__).parent / "warm.py"), *modules]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield Runner(process, folder)
    finally:
        process.communicate(timeout=60)


def trace(program: str, code: int, out: str, err: str) -> ArmTrace:
    """The steps that a program told of, and how it ended."""
    heads = list(_STEP.finditer(out))
    ends = [head.start() for head in heads[1:]] + [len(out)]
    steps = [
        _step(head[1], head[2], out[head.end() : end].strip(), err)
        for head, end in zip(heads, ends, strict=True)
    ]
    there = {stage for stage in Stage if re.search(rf'step\("{stage.value}\b', program)}
    absent = {stage: "skipped" for stage in Stage if stage not in there}
    signal_name = signal.Signals(-code).name if code < 0 else None
    if signal_name == "SIGALRM":
        end = End(Stopped.TIME, signal="SIGKILL")
    else:
        final = bool(steps) and steps[-1].stage is Stage.EXIT and code in (0, 1)
        told = code in (0, 1) and (final or any(step.raised or step.mismatch for step in steps))
        end = End(
            Stopped.ITSELF,
            0 if told else code if code >= 0 else None,
            signal_name,
            final=told,
        )
    if signal_name and steps and not steps[-1].raised and steps[-1].stage is not Stage.EXIT:
        steps[-1] = replace(steps[-1], finished=False)
    return ArmTrace("stock", tuple(steps), end, absent, out, err)


def _step(stage: str, at: str | None, said: str, err: str) -> Step:
    known = Stage(stage)
    if known is Stage.EXIT or said.endswith("ok"):
        return Step(known, at, finished=True)
    failed = _FAILED.search(said)
    if failed is None:
        return Step(known, at, finished=False)
    if failed[1] == "WrongValue":
        return Step(known, at, finished=True, mismatch=failed[2])
    frames = tuple(re.findall(r", in (.+)$", err, re.MULTILINE))
    return Step(known, at, finished=True, raised=Raised(failed[1], failed[2], frames))


def unlike(case: Case, info: TvmInfo, seen: ArmTrace) -> list[str]:
    """Where what a program showed is not what the case expects of the stock arm."""
    expect = case.expectation(info.tvm, info.tvm_ffi)
    assert expect is not None
    return [
        f"{case.id}: {one.stage.value}: expected {one.expected}, saw {one.seen}"
        for one in differences(expect.arms["stock"], stages(seen))
    ]
