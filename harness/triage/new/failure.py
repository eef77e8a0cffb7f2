"""What a report says goes wrong: from tracebacks, output, and words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.compat import canonical
from harness.triage.new.report import Block, Report
from harness.verdict.normalise import explained_by

_ERROR = re.compile(
    r"^\s*(?:[A-Za-z_]\w*\.)*([A-Z]\w*(?:Error|Exception|Interrupt))(?:\s*:\s*(.*))?$"
)
_FRAME = re.compile(r'^\s*File "([^"]*)", line (\d+)(?:, in \S.*)?$')
_LIBRARY = re.compile(r"site-packages|dist-packages|/python/tvm/|/tvm_ffi/|\.cc$|\.h$|<unknown>")
_LONGEST = 60  # characters of a pattern
_CRASHES: Final = (
    ("SIGSEGV", r"segmentation fault|segfault|SIGSEGV|\bexit(?:ed)?(?: code)? ?-?(?:11|139)\b"),
    ("SIGFPE", r"floating[- ]point exception|SIGFPE"),
    ("SIGILL", r"illegal instruction|SIGILL"),
    ("SIGBUS", r"\bbus error|SIGBUS"),
    ("SIGABRT", r"\bSIGABRT|\bAborted\b|terminate called after|double free or corruption"),
)
_WORDS: Final = (
    ("oom", r"\bstd::bad_alloc|out[ -]of[ -]memory|\bOOM\b|eats all (?:the )?memory"),
    (
        "hang",
        r"\bhangs?\b|never (?:returns?|ends|finish(?:es)?|terminates?)|infinite loop|endless loop"
        r"|does(?: not|n't) (?:return|terminate|finish)|gets? stuck|\bdeadlocks?\b",
    ),
    (
        "mismatch",
        r"not equal to tolerance|mismatched elements|wrong (?:result|output|value|answer)"
        r"|incorrect (?:result|output|value)|miscompil|inconsisten(?:t|cy)|different results?"
        r"|(?:results?|outputs?|values?) (?:is|are) (?:wrong|different|incorrect)"
        r"|(?:results?|outputs?|values?) (?:differ|mismatch|do(?: not|n't) match)",
    ),
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure as it is reported.

    Attributes
    ----------
    kind : {"error", "crash", "hang", "oom", "mismatch"}
    detail : str
        Class of the exception, or name of the signal.
    message : str
    line : int
        Of the report.
    places : tuple of str
        Lines of the script that a traceback goes through, the innermost last.
    """

    kind: str
    detail: str
    message: str
    line: int
    places: tuple[str, ...] = ()

    def pattern(self) -> Any:
        """As an outcome in a case; numbers, addresses and paths in a message do not count."""
        match self.kind:
            case "error":
                said = message_pattern(self.message)
                return {"error": canonical(self.detail)} | ({"match": said} if said else {})
            case "crash":
                return {"crash": self.detail}
        return self.kind

    def __str__(self) -> str:
        said = f": {self.message}" if self.message else ""
        return f"{self.kind} {self.detail}".strip() + said


def reported_failure(report: Report) -> Failure | None:
    """The failure that `report` is about: what it shows counts for more than what it says."""
    for shown in (report.shown, report.prose):
        if found := _error(shown) or (_named(shown) if shown is report.prose else None):
            if found.detail == "AssertionError" and _word([*report.shown]) == "mismatch":
                return Failure("mismatch", "", "", found.line, found.places)
            crash = _crash(report.shown)
            return crash if crash and crash.line > found.line else found
    comments = [
        Block(line.partition("#")[2], script.line + number)
        for script in report.scripts
        for number, line in enumerate(script.text.split("\n"))
        if "#" in line
    ]
    for blocks in (report.shown, report.prose, [Block(report.title, 1)], comments):
        if crash := _crash(blocks):
            return crash
        if word := _word(blocks):
            return Failure(word, "", "", _line_of(blocks, dict(_WORDS)[word]))
    return None


def _lines(blocks: Sequence[Block]) -> Iterator[tuple[str, int]]:
    for block in blocks:
        for number, line in enumerate(block.text.split("\n")):
            yield line, block.line + number


def _error(blocks: Sequence[Block]) -> Failure | None:
    """The last exception of the first block that shows one."""
    for block in blocks:
        found = None
        lines = [line.strip("`* ") for line in block.text.split("\n")]
        for number, line in enumerate(lines):
            error = _ERROR.match(line)
            if error is None:
                continue
            message = (error[2] or "").strip()
            if message.startswith("Traceback (most recent call last)"):
                message = ""
            if found is None or message or not found.message:
                found = Failure("error", error[1], message, block.line + number)
        if found is not None:
            reason = next((one for one in reversed(lines) if one.startswith("Error message:")), "")
            said = reason.removeprefix("Error message:").strip() or found.message
            places = tuple(_places(block.text.split("\n")))
            return Failure("error", found.detail, said, found.line, places)
    return None


def _named(prose: Sequence[Block]) -> Failure | None:
    """An exception that is named within a sentence, with what it says where that is quoted."""
    for line, number in _lines(prose):
        found = re.search(r"\b([A-Z]\w*Error)\b(?::\s*([^`]*))?", line)
        if found and found[1] != "TVMError":
            return Failure("error", found[1], (found[2] or "").strip(), number)
    return None


def _places(lines: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(lines[:-1]):
        frame = _FRAME.match(line)
        if frame and not _LIBRARY.search(frame[1]):
            yield lines[number + 1].strip()


def _crash(blocks: Sequence[Block]) -> Failure | None:
    for signal, pattern in _CRASHES:
        words = re.compile(pattern, re.IGNORECASE if signal != "SIGABRT" else 0)
        for line, number in _lines(blocks):
            if words.search(line):
                return Failure("crash", signal, "", number)
    return None


def _word(blocks: Sequence[Block]) -> str:
    text = "\n".join(line for line, _ in _lines(blocks))
    return next((word for word, one in _WORDS if re.search(one, text, re.IGNORECASE)), "")


def _line_of(blocks: Sequence[Block], pattern: str) -> int:
    words = re.compile(pattern, re.IGNORECASE)
    return next((number for line, number in _lines(blocks) if words.search(line)), 0)


def message_pattern(message: str) -> str:
    """A regex for the beginning of what a message explains, without what varies."""
    said = canonical(explained_by(message.strip()) or message.strip())
    condition = re.match(r"Check failed: \(?(.*?)\)? is false:?\s*$", said)
    said = condition[1] if condition else said.removeprefix("Check failed: ").strip()
    found = ""
    for word in re.findall(r"\s*\S+", said):
        varies = re.search(r"0x[0-9a-fA-F]+|(?<![A-Za-z_])\d|/\w+/", word) is not None
        longer = found + (r"\s*\S+" if varies else _escaped(word))
        if found and len(longer) > _LONGEST:
            break
        found = longer
    found = re.sub(r"(?:\\s\*\\S\+)+$", "", found)
    return found if re.search(r"[A-Za-z]{3}", found.replace(r"\s*\S+", "")) else ""


def _escaped(text: str) -> str:
    return re.sub(r"\\([ \-#&~])", r"\1", re.escape(text))
