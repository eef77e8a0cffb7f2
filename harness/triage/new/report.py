"""A report as people paste it: its title, its issue, its Python and the rest of what it shows."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt

LONGEST_TITLE = 90
_PYTHON = frozenset({"", "python", "python3", "py", "python3.10", "ipython", "pycon"})
_NUMBERED = re.compile(r"(?<![\w/])([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)#([1-9][0-9]*)\b")
_ADDRESS = re.compile(
    r"https?://github\.com/([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)/(?:issues|pull)/([1-9][0-9]*)\b"
)
_LABELS = re.compile(r"^(?:\s*(?:\[[\w .-]*\]|title\s*:|bug( report)?\s*:))+\s*", re.IGNORECASE)
_HEADINGS = re.compile(
    r"(?:expected|actual) behaviou?r|environment|(?:describe|description of) the bug|description"
    r"|(?:steps )?to reproduce|summary|---",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of the report; `line` is that of the first, counted from 1.

    `named` says that they are called Python, there.
    """

    text: str
    line: int
    named: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Script(Block):
    """A block that is Python."""

    tree: ast.Module


@dataclass(frozen=True, slots=True)
class Broken(Block):
    """A block that looks like Python and does not parse; `error_line` is a line of the report."""

    error_line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """What was pasted, sorted.

    Attributes
    ----------
    title : str
        "" when there is none.
    issue : str
        ``owner/repo#number``; "" when the report does not say which it is itself.
    scripts, broken, shown, prose : sequence
        Python, what would be Python, other blocks (tracebacks, output), and the text around.
    """

    title: str
    issue: str
    scripts: tuple[Script, ...]
    broken: tuple[Broken, ...]
    shown: tuple[Block, ...]
    prose: tuple[Block, ...]


def read_report(text: str, name: str = "") -> Report:
    """Sort out what `text` shows; one from a file named ``.py`` is a script as a whole."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")
    whole = Block(text, 1)
    if name.endswith(".py") or _is_script(text):
        blocks, prose = [whole], list[Block]()
    else:
        blocks, prose = _blocks(text)
    scripts, broken, shown = [], [], []
    for block in blocks:
        match _python(block):
            case Script() as script:
                scripts.append(script)
            case Broken() as bad:
                broken.append(bad)
            case _:
                shown.append(block)
    remarks = [one for script in scripts for one in _remarks(script)]
    prose = prose or remarks
    title = _title([*prose, *remarks])
    return Report(
        title,
        _issue(prose, remarks),
        tuple(scripts),
        tuple(broken),
        tuple(shown),
        tuple(prose),
    )


def parse(text: str) -> ast.Module:
    """`text` as Python.

    Raises
    ------
    SyntaxError
        Also for what the parser gives up on.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or type(error).__name__) from None


def _is_script(text: str) -> bool:
    """Whether all of it is Python, such as comes from standard input."""
    try:
        tree = parse(text)
    except SyntaxError:
        return False
    return any(isinstance(one, ast.Import | ast.ImportFrom) for one in tree.body)


def _blocks(text: str) -> tuple[list[Block], list[Block]]:
    """Code and prose of a Markdown text."""
    lines = text.split("\n")
    code: list[Block] = []
    prose: list[Block] = []
    end = 0
    for token in MarkdownIt("commonmark").parse(text):
        if token.type not in ("fence", "code_block") or token.map is None or token.map[0] < end:
            continue
        start, stop = token.map
        prose += _paragraphs(lines, end, start)
        language = token.info.strip().lower().split(maxsplit=1)
        first = start + (2 if token.type == "fence" else 1)
        named = bool(language) and language[0] in _PYTHON
        code.append(Block(token.content, first, named=named))
        if language and language[0] not in _PYTHON:
            code[-1] = Block(_as_shown(token.content), first)
        end = stop
    prose += _paragraphs(lines, end, len(lines))
    if not any(_imports(block.text) for block in code):
        prose, found = _unfenced(prose, lines)
        code += found
    return code, prose


def _as_shown(text: str) -> str:
    """A block in another language stays what it is, even where it would parse as Python."""
    return text if _imports(text) else f"$ \n{text}"


def _imports(text: str) -> bool:
    return re.search(r"^\s*(?:>>> )?(?:import|from)\s+\w", text, re.M) is not None


def _paragraphs(lines: Sequence[str], start: int, stop: int) -> Iterator[Block]:
    for number in range(start, stop):
        if lines[number].strip():
            yield Block(lines[number], number + 1)


def _unfenced(prose: list[Block], lines: Sequence[str]) -> tuple[list[Block], list[Block]]:
    """A script that was pasted without a fence: from its first import as far as it is Python."""
    opened = re.compile(r"(?:import|from)\s+[\w.]+(?:\s+import\b.*|\s+as\s+\w+|\s*,.*)?\s*$")
    starts = (block.line - 1 for block in prose if opened.match(block.text))
    start = next(starts, None)
    if start is None:
        return prose, []
    stop = len(lines)
    for _ in range(50):
        text = "\n".join(lines[start:stop])
        try:
            parse(text)
        except SyntaxError as error:
            stop = start + max((error.lineno or 1) - 1, 0)
            while stop > start and lines[stop - 1][:1] in (" ", "\t"):
                stop -= 1
            if stop <= start:
                return prose, []
        else:
            rest = [one for one in prose if not start < one.line <= stop]
            return rest, [Block(text, start + 1)]
    return prose, []


def _python(block: Block) -> Script | Broken | None:
    text = textwrap.dedent(_without_prompts(block.text.expandtabs(4)))
    if not text.strip():
        return None
    try:
        tree = parse(text)
    except SyntaxError as error:
        if not (block.named or _imports(text)) or "Traceback (most recent call last)" in text:
            return None
        line = block.line + max((error.lineno or 1) - 1, 0)
        return Broken(text, block.line, line, error.msg or "invalid syntax")
    return Script(text, block.line, tree) if _does_something(tree) else None


def _without_prompts(text: str) -> str:
    """What was typed at a prompt, without what it answered; lines keep their numbers."""
    if not re.search(r"^>>> ", text, re.M):
        return text
    kept = [line[4:] if line.startswith((">>> ", "... ")) else "" for line in text.split("\n")]
    return "\n".join(kept)


def _does_something(tree: ast.Module) -> bool:
    kinds = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.Assign, ast.With)
    calls = any(isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) for one in tree.body)
    return calls or any(isinstance(one, kinds) for one in tree.body)


def _remarks(script: Script) -> list[Block]:
    """What a script says of itself: its docstring, and the comments in front of all code."""
    found = []
    for number, line in enumerate(script.text.split("\n")):
        if line.startswith("#") and not line.startswith(("#!", "# -*-")):
            found.append(Block(line.lstrip("# "), script.line + number))
        elif line.strip():
            break
    text = ast.get_docstring(script.tree, clean=True) or ""
    if not text:
        return found
    first = script.line + script.tree.body[0].lineno - 1
    return [Block(line, first + number) for number, line in enumerate(text.split("\n"))] + found


def _title(said: Sequence[Block]) -> str:
    """The first heading, `title:` or labelled line; else the first line, where it is short."""
    lines = [one.text.strip() for one in said]
    named = [one for one in lines[:10] if re.match(r"title\s*:|\[\w+\]|#\s*\S", one)]
    for line in [*named, *lines[:4]]:
        words = _LABELS.sub("", _LABELS.sub("", line.lstrip("# ")).strip(" \"'"))
        words = re.sub(r"[\s(]*(?:,?\s*see\s+)?(?:[\w.-]+/[\w.-]+)?#[0-9]+\)?$", "", words)
        words = "".join(one for one in words if one.isprintable() or one.isspace())
        words = " ".join(_ADDRESS.sub("", words).split()).strip(" *_`")
        if words and not _HEADINGS.match(words):
            return words if len(words) <= LONGEST_TITLE else f"{words[: LONGEST_TITLE - 1]}…"
    return ""


def _issue(prose: Sequence[Block], remarks: Sequence[Block]) -> str:
    """Which issue this is: named in the title, in a line of its own, or behind `issue:`."""
    for place, block in enumerate([*prose[:6], *remarks]):
        line = block.text.strip().strip("<>")
        found = _ADDRESS.search(line) or _NUMBERED.search(line)
        own = found and (place == 0 or found[0] == line.strip("#* ") or _says_issue(line))
        if found and own:
            return f"{found[1]}#{found[2]}"
        numbered = re.search(r"(?:^#.*|^\[.*)\s[(]?#([1-9][0-9]{1,6})[)]?$", line)
        if numbered and place == 0:
            return f"apache/tvm#{numbered[1]}"
    return ""


def _says_issue(line: str) -> bool:
    return (
        re.match(r"\W*(?:issue|bug|reported (?:as|in|at)|link|url|see)\b", line, re.I) is not None
    )
