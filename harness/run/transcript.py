"""From the records of a child to the steps of a trace. Nothing in a record is trusted."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from harness.run.trace import FixState, Looked, PassRun, Raised, Stage, Step
from harness.run.watch import Path

# Of all records of a child; they are small, the largest are IR texts that were asked for.
_LIMIT = 16 << 20
_NOISE = b"\0"  # how no record begins


@dataclass(slots=True)
class Transcript:
    """What one child has told so far.

    Lines that do not open with the token, or do not parse, are somebody else's noise: ignored.
    """

    token: str
    steps: list[Step] = field(default_factory=list)
    absent: dict[Stage, str] = field(default_factory=dict)
    globals: tuple[str, ...] | None = None
    fix: FixState | None = None
    ir: tuple[str, str] | None = None
    passes: dict[Path, PassRun] = field(default_factory=dict)
    loaded: bool | None = None
    final: bool = False
    started: bool = False
    _rest: bytes = b""  # the beginning of a line that may become a record
    _taken: int = 0

    def feed(self, data: bytes) -> None:
        self.started = True
        *lines, rest = (self._rest + data).split(b"\n")
        opening = self.token.encode()
        for line in lines:
            if line.startswith(opening):
                self._take(line[len(opening) :])
        legible = opening.startswith(rest[: len(opening)]) and len(rest) < _LIMIT
        self._rest = rest if legible else _NOISE

    def _take(self, line: bytes) -> None:
        self._taken += len(line)
        if self._taken > _LIMIT:
            return
        try:
            record = json.loads(line)
            self._record(record)
        except Exception:  # who knows the token can send anything
            return

    def _record(self, record: dict[str, Any]) -> None:
        match record:
            case {"begin": stage, "at": at}:
                self.steps.append(Step(Stage(stage), str(at) or None))
            case {"end": end, "seconds": seconds}:
                step = self.steps[-1]
                self.steps[-1] = Step(
                    step.stage,
                    step.at,
                    finished=True,
                    raised=_raised(end.get("raised")),
                    mismatch=None if "mismatch" not in end else str(end["mismatch"]),
                    seconds=float(seconds),
                )
            case {"absent": stage, "word": word}:
                self.absent[Stage(stage)] = str(word)
            case {"globals": names}:
                self.globals = tuple(str(name) for name in names)
            case {"fix": state}:
                self.fix = FixState(
                    str(state["name"]),
                    bool(state["applied"]),
                    int(state["used"]),
                    str(state["detail"]),
                )
            case {"ir": [before, after]}:
                self.ir = (str(before), str(after))
            case {"pass": path, "name": name}:
                begun = PassRun(tuple(map(int, path)), str(name))
                self.passes[begun.path] = begun
            case {"passed": path, "seconds": seconds}:
                self._know_more(path, finished=True, seconds=float(seconds))
            case {"looked": path, "changed": changed, "container": container}:
                check = _raised(record.get("ill_formed"))
                self._know_more(path, looked=Looked(bool(changed), bool(container), check))
            case {"loaded": loaded}:
                self.loaded = bool(loaded)
            case {"final": True}:
                self.final = all(step.finished for step in self.steps)

    def _know_more(self, place: list[int], **facts: Any) -> None:
        path = tuple(map(int, place))
        self.passes[path] = replace(self.passes[path], **facts)


def _raised(record: dict[str, Any] | None) -> Raised | None:
    if record is None:
        return None
    frames = tuple(str(frame) for frame in record["frames"])
    return Raised(str(record["type"]), str(record["message"]), frames)
