"""Results for scripts: JSON Lines, a header and then one line a case, written as each case ends.

Schema 1. Keys may be added; none is taken away or given another meaning. Lines stand in the order
in which cases ended, which varies; what else varies from run to run `steady` leaves out.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from harness.case import Case
from harness.report.text import cut
from harness.run.trace import FixState, TvmInfo
from harness.verdict.arm import ArmJudgement
from harness.verdict.judge import Judgement
from harness.verdict.normalise import normalise
from harness.verdict.outcome import Crash, Error, Exit, Oom, StageResult
from harness.verdict.signature import Signature
from harness.verdict.word import Verdict
from harness.verdict.words import kind, message

SCHEMA: Final = 1
# Times; and output, which holds the time of day, ids of threads and addresses.
VARYING: Final = frozenset({"started", "seconds", "stdout", "stderr"})
# Texts that quote a message of TVM's, with its addresses.
QUOTING: Final = frozenset({"message", "reason", "seen"})
_MESSAGE: Final = 4_000
_OUTPUT: Final = 4_000  # its two ends: where it died in Python stands first, in C++ last
_FRAMES: Final = 30
_FRAME: Final = 300


class ResultsFile:
    """A results file that is complete up to the last case that ended. A context manager.

    Each line goes out in one write to a file opened for appending, and nothing is held back.

    Parameters
    ----------
    path : Path
        Made anew; a file that is there is overwritten, unless another run is writing to it.
    info : TvmInfo
        For the header.
    planned : int
        How many lines are to come, so that a reader can tell a run that was cut off.
    shard : str
        Which part of a run it is, as in ``2/4``; "" for all of it.

    Raises
    ------
    OSError
        When the file cannot be opened or written.
    """

    def __init__(self, path: Path, info: TvmInfo, planned: int, shard: str = "") -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._fd = os.open(path, flags, 0o666)
        try:
            if stat.S_ISREG(os.fstat(self._fd).st_mode):
                _claim(self._fd)
                os.truncate(self._fd, 0)
            self._write(header(info, datetime.now(timezone.utc), planned, shard))
        except BaseException:
            os.close(self._fd)
            raise

    def add(self, case: Case, judgement: Judgement, seconds: float) -> None:
        """Write the line of a case."""
        self._write(case_line(case, judgement, seconds))

    def add_unreadable(self, case_id: str, reason: str) -> None:
        """Write the line of a case file that is no case."""
        verdict = Verdict.UNRUNNABLE.value
        line = {"case": case_id, "verdict": verdict, "reason": cut(reason, _MESSAGE), "arms": {}}
        self._write({**line, "seconds": 0.0})

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._fd)

    def _write(self, record: Mapping[str, Any]) -> None:
        # ASCII only: text from a dying process may hold halves of characters.
        rest = json.dumps(record, ensure_ascii=True).encode("ascii") + b"\n"
        while rest:
            rest = rest[os.write(self._fd, rest) :]


def _claim(fd: int) -> None:
    """Lock the file, as long as it is open."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OSError(errno.EBUSY, "another run is writing to it") from None
    except OSError:
        pass  # a file system without locks


def header(info: TvmInfo, started: datetime, planned: int, shard: str = "") -> dict[str, Any]:
    """The first line: what ran the cases, when, and how many."""
    run = {"started": started.isoformat(timespec="seconds"), "planned": planned}
    return {"schema": SCHEMA, **info.as_dict(), **run, **({"shard": shard} if shard else {})}


def case_line(case: Case, judgement: Judgement, seconds: float) -> dict[str, Any]:
    """The line of a case."""
    line = {"case": case.id, **_judgement(judgement), "seconds": round(seconds, 6)}
    if judgement.contrasts:
        line["contrasts"] = {
            title: _judgement(contrast) for title, contrast in judgement.contrasts.items()
        }
    return line


def steady(record: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a line that is the same whenever the same cases run on the same TVM.

    Without the keys of `VARYING`, at any depth, and with the texts of `QUOTING` normalised.
    Verdicts, outcomes, signatures, globals and all the rest are left as they are.

    Parameters
    ----------
    record : mapping
        A line of a results file: the header or a case.
    """
    return {key: _steady(key, value) for key, value in record.items() if key not in VARYING}


def _steady(key: str, value: Any) -> Any:
    match value:
        case str():
            return normalise(value) if key in QUOTING else value
        case list():
            return [_steady(key, one) for one in value]
        case dict() if key == "contrasts":  # by title, which may be any word
            return {title: steady(contrast) for title, contrast in value.items()}
        case dict():
            return steady(value)
        case _:
            return value


def _judgement(judgement: Judgement) -> dict[str, Any]:
    return {
        "verdict": judgement.verdict.value,
        "reason": cut(judgement.reason, _MESSAGE),
        "arms": {name: _arm(arm) for name, arm in judgement.arms.items()},
    }


def _arm(arm: ArmJudgement) -> dict[str, Any]:
    trace, found = arm.trace, arm.signature
    record: dict[str, Any] = {
        "stages": [_stage(result) for result in arm.stages],
        "signature": str(found) if isinstance(found, Signature) else None,
        "expected": {stage: one.describe() for stage, one in arm.expect.stages.items()},
        "differences": [
            {"stage": one.stage.value, "expected": one.expected, "seen": one.seen}
            for one in arm.differences
        ],
        "runs": len(arm.runs),
        "globals": None if trace.globals is None else list(trace.globals),
    }
    if trace.fix is not None:
        record["fix"] = _fix(trace.fix)
    if arm.telling.failed or arm.differences:
        record["stdout"] = cut(trace.stdout, _OUTPUT)
        record["stderr"] = cut(trace.stderr, _OUTPUT)
    return record


def _fix(fix: FixState) -> dict[str, Any]:
    return {"name": fix.name, "applied": fix.applied, "used": fix.used, "detail": fix.detail}


def _stage(result: StageResult) -> dict[str, Any]:
    outcome = result.outcome
    form = outcome.form if isinstance(outcome, Oom) else outcome
    record: dict[str, Any] = {
        "stage": result.stage.value,
        "at": result.at or None,
        "outcome": kind(outcome),
        "error": form.type if isinstance(form, Error) else None,
        "message": cut(message(outcome), _MESSAGE) if result.failed else None,
        "signal": form.signal if isinstance(form, Crash) else None,
        "seconds": round(result.seconds, 6),
    }
    if isinstance(outcome, Exit):
        record["code"] = outcome.code
    if isinstance(form, Error | Crash) and form.frames:
        inner_first = form.frames[::-1] if isinstance(form, Error) else form.frames
        record["frames"] = [cut(one, _FRAME) for one in inner_first[:_FRAMES]]
    return record
