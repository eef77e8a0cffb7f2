"""What was seen of an arm, as a case would say it: ready to be pasted under `expect:`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.run.trace import Stage
from harness.verdict.frames import function_name, own_name, top_frames
from harness.verdict.normalise import explained_by
from harness.verdict.outcome import Crash, Error, Exit, StageResult
from harness.verdict.words import gist, kind

_LONGEST = 60  # characters of a pattern: with its key it fits a terminal
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_NEEDLESS = re.compile(r"\\([ \-#&~])")  # what re.escape escapes for the sake of re.VERBOSE


def as_expectation(stages: Sequence[StageResult]) -> str:
    """``ok``, or a few lines of YAML for every stage that failed.

    Messages are quoted from their beginning, without addresses: whoever keeps such a pattern
    should look whether it holds what makes the bug.
    """
    failed = [_stage(result) for result in stages if result.failed]
    return "\n".join(failed) or "ok"


def _stage(result: StageResult) -> str:
    told = dict(_outcome(result))
    if result.at and result.stage is not Stage.RUN:  # the call is told by its check
        told["at"] = _quoted(result.at)
    if len(told) == 1 and "true" in told.values():
        return f"{result.stage.value}: {next(iter(told))}"
    keys = "".join(f"\n  {key}: {value}" for key, value in told.items())
    return f"{result.stage.value}:{keys}"


def _outcome(result: StageResult) -> Iterator[tuple[str, str]]:
    outcome = result.outcome
    match outcome:
        case Error():
            yield "error", outcome.type
            top = top_frames(outcome.frames)[-1:]
            message = gist(outcome.message)
            if said := _start(explained_by(message) or message):
                yield "match", _quoted(said)
            elif names := [own_name(one) for one in outcome.frames if function_name(one) in top]:
                yield "in", _quoted(_last_part(names[-1]))
        case Crash():
            yield "crash", outcome.signal
            if names := [name for name in map(own_name, outcome.frames) if "::" in name]:
                yield "in", _quoted(_last_part(names[0]))
        case Exit():
            yield "exit", str(outcome.code)
        case _:
            yield kind(outcome), "true"


def _start(message: str) -> str:
    """A pattern for as many words from the start of `message` as there is room for."""
    found = ""
    for word in re.findall(r"\s*\S+", message.strip()):
        longer = found + "0x[0-9a-f]+".join(map(_pattern, _ADDRESS.split(word)))
        if found and len(longer) > _LONGEST:
            break
        found = longer
    return found if len(found) <= 4 * _LONGEST else ""


def _last_part(function: str) -> str:
    """A pattern for its own name: namespaces move from release to release."""
    return _pattern(function.rpartition("::")[2])


def _pattern(text: str) -> str:
    return _NEEDLESS.sub(r"\1", re.escape(text))


def _quoted(text: str) -> str:
    """`text` as a scalar of YAML."""
    if re.fullmatch(r"[A-Za-z_][\w.]*", text):
        return text
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + text.encode("unicode_escape").decode("ascii").replace('"', '\\"') + '"'
