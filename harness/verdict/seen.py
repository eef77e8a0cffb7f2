"""What was seen of an arm, as a case would say it: ready to be pasted under `expect:`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.run.trace import Stage
from harness.verdict.frames import function_name, own_name, top_frames
from harness.verdict.normalise import explained_by
from harness.verdict.outcome import Crash, Error, Exit, Outcome, StageResult
from harness.verdict.words import gist, kind

# A word, or a mapping, for each stage that failed.
Seen = str | dict[str, str | dict[str, str | int | bool]]
_LONGEST = 60  # characters of a pattern: with its key it fits a terminal
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_NEEDLESS = re.compile(r"\\([ \-#&~])")  # what re.escape escapes for the sake of re.VERBOSE


def as_expectation(stages: Sequence[StageResult]) -> str:
    """`as_data` in YAML: ``ok``, or a few lines for every stage that failed."""
    seen = as_data(stages)
    return seen if isinstance(seen, str) else "\n".join(map(_lines, seen, seen.values()))


def as_data(stages: Sequence[StageResult]) -> Seen:
    """``ok``, or an outcome for every stage that failed, as plain data.

    Messages are quoted from their beginning, without addresses: whoever keeps such a pattern
    should look whether it holds what makes the bug.
    """
    return {result.stage.value: _outcome(result) for result in stages if result.failed} or "ok"


def _lines(stage: str, outcome: str | dict[str, str | int | bool]) -> str:
    if isinstance(outcome, str):
        return f"{stage}: {outcome}"
    keys = "".join(f"\n  {key}: {_scalar(value)}" for key, value in outcome.items())
    return f"{stage}:{keys}"


def _outcome(result: StageResult) -> str | dict[str, str | int | bool]:
    told = dict(_told(result.outcome))
    if result.at and result.stage is not Stage.RUN:  # the call is told by its check
        told["at"] = result.at
    word, *more = told
    return word if told[word] is True and not more else told


def _told(outcome: Outcome) -> Iterator[tuple[str, str | int | bool]]:
    match outcome:
        case Error():
            yield "error", outcome.type
            top = top_frames(outcome.frames)[-1:]
            message = gist(outcome.message)
            if said := _start(explained_by(message) or message):
                yield "match", said
            elif names := [own_name(one) for one in outcome.frames if function_name(one) in top]:
                yield "in", _last_part(names[-1])
        case Crash():
            yield "crash", outcome.signal
            if names := [name for name in map(own_name, outcome.frames) if "::" in name]:
                yield "in", _last_part(names[0])
        case Exit():
            yield "exit", outcome.code
        case _:
            yield kind(outcome), True


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


def _scalar(value: str | int | bool) -> str:
    """A scalar of YAML."""
    return _quoted(value) if isinstance(value, str) else str(value).lower()


def _quoted(text: str) -> str:
    if re.fullmatch(r"[A-Za-z_][\w.]*", text):
        return text
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + text.encode("unicode_escape").decode("ascii").replace('"', '\\"') + '"'
