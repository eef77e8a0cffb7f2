"""Messages without what varies from run to run, module to module and release to release."""

from __future__ import annotations

import re
from typing import Final

from harness.compat import canonical

_LENGTH: Final = 300
_READ: Final = 4_000  # at either end of a message: the reason stands at one of them

# Both shapes of TVM's checks: "(condition) is false: why" and "a < b (3 vs. 2) : why".
_CHECK = re.compile(
    r"^(?:error: )?Check failed: (.*?)(?: is false:| \([^()]* vs\. [^()]*\) ?:)(.*)$", re.DOTALL
)
_EXPLAINED = re.compile(r"\bError message: *(.*)$", re.DOTALL)
# Source, IR or a table that a message quotes: what is indented, or opens like TVMScript.
_QUOTED_LINE = re.compile(r"^(?:\s|[@#]|class |Access path:|Note:|-->|\d+ \|)")

# In order: paths before numbers, strings before names.
_VARYING: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<address>"),
    (
        re.compile(
            r"(?<![\w.~/-])(?:[\w.~-]*/)+[\w.+-]+\.(?:cc|h|hpp|cpp|c|pyx?|pxi|so|o|ll)\b(?::\d+)*"
        ),
        "<path>",
    ),
    (re.compile(r"(?<![\w)])/(?:[\w.+~-]+/)+[\w.+~-]*"), "<path>"),
    (re.compile(r'"(?:\\.|[^"\\])*"'), '"…"'),
    (re.compile(r"'(?=[^'\s]*\s)[^']*'"), "'…'"),
    (re.compile(r"`[^`]*`"), "`…`"),
)
_NAMED = re.compile(
    r"\b(GlobalVar|DataflowVar|Var|Function)"
    r" (?:I\.GlobalVar\(…\)|(?!(?:is|must|with|registry)\b)[\w.]+)"
)
_EXPRESSION = re.compile(r"\b(PrimExpr) .+? (in function|has|is)\b")
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|nan|inf)\b")
_NUMBERS = re.compile(r"\[(?:<n>(?:, <n>)*)?\]")  # an index, a shape: their length varies too
_NAME = re.compile(r"\b[A-Za-z_]\w+\b")
_DTYPE = re.compile(r"(?:u?int|b?float|complex|handle|bool)\d+(?:x\d+)?")
_SPACE = re.compile(r"\s+")


def normalise(message: str) -> str:
    """The part of a message that says what went wrong, in words that do not vary.

    Addresses, numbers, paths, quoted source and the names that TVM makes up (``lv12``,
    ``fused_add3``) go, and so do printed objects (``ir.Op(…)``), which grow with every release.
    Element types stay. What a check explains is kept; its condition only when it explains nothing,
    since conditions are rewritten more often than explanations.
    """
    text = message.strip()
    if len(text) > 2 * _READ:
        _, _, whole_lines = text[-_READ:].partition("\n")
        text = f"{text[:_READ]}\n{whole_lines or text[-_READ:]}"
    text = canonical(text)
    explained = _EXPLAINED.search(text)
    if explained:
        text = f"{_first_line(text)} {explained.group(1)}"
    check = _CHECK.match(text)
    if check:
        explanation = _explanation(check)
        if not explanation:
            return _squeeze(f"Check failed: {check.group(1)}")
        text = explanation
    return _squeeze(_without_what_varies(_without_quoted_lines(text)))


def explained_by(text: str) -> str:
    """What a message of TVM's checks says besides its condition; "" for any other message."""
    check = _CHECK.match(text)
    return _explanation(check) if check else ""


def _explanation(check: re.Match[str]) -> str:
    return check.group(2).strip(" :\n")


def _without_quoted_lines(text: str) -> str:
    first, *others = text.split("\n")
    return "\n".join([first, *(line for line in others if not _QUOTED_LINE.match(line))])


def _without_what_varies(text: str) -> str:
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    text = _without_arguments(text)
    text = _NAMED.sub(r"\1 <name>", text)
    text = _EXPRESSION.sub(r"\1 <expression> \2", text)
    text = _NAME.sub(_without_number, text)
    return _NUMBERS.sub("[<n>]", _NUMBER.sub("<n>", text))


def _without_arguments(text: str) -> str:
    """``add(x, pad(y))`` to ``add(…)``: what is in brackets after a word is a printed object."""
    kept: list[str] = []
    depth = 0
    for letter in text:
        after_word = bool(kept) and (kept[-1].isalnum() or kept[-1] == "_")
        if letter == "(" and (depth or after_word):
            if not depth:
                kept.append("(…)")
            depth += 1
        elif letter == ")" and depth:
            depth -= 1
        elif not depth:
            kept.append(letter)
    return "".join(kept)


def _without_number(found: re.Match[str]) -> str:
    name = found.group(0)
    return name if _DTYPE.fullmatch(name) else name.rstrip("0123456789").rstrip("_") or name


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _squeeze(text: str) -> str:
    return _SPACE.sub(" ", text).strip()[:_LENGTH]
