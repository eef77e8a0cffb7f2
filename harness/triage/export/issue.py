"""``export --as issue``: a report under the headings that TVM's tracker asks for."""

from __future__ import annotations

from collections.abc import Iterator

from harness.case import Case
from harness.report.text import code
from harness.run.trace import TvmInfo
from harness.triage.export.script import script
from harness.verdict.judge import Judgement
from harness.verdict.outcome import StageResult, first_failure
from harness.verdict.signature import Signature
from harness.verdict.words import describe, message

_LINES = 40  # of a message
_WIDTH = 100


def issue(case: Case, judgement: Judgement, info: TvmInfo) -> str:
    """The report, in Markdown.

    Parameters
    ----------
    case : Case
    judgement : Judgement
        What was seen of it, with its contrasts.
    info : TvmInfo
    """
    stock = judgement.arms["stock"]
    failed = [result for result in stock.stages if result.failed]
    parts = [
        f"# [Bug] {case.title}",
        "### Expected behavior",
        *_expected(case, judgement),
        "### Actual behavior",
        *([case.notes.strip()] if case.notes.strip() else []),
        *(_failure(result) for result in failed),
        "Stage by stage:",
        _fenced(_ladder(judgement)),
        *_culprit(judgement),
        "### Environment",
        "\n".join(f"- {one}" for one in _environment(info)),
        "### Steps to reproduce",
        "The program needs TVM alone. It tells of each stage, and ends with exit code 1 where it "
        "does not die before.",
        _fenced(script(case, info), "python"),
        "### Triage",
        "* needs-triage",
    ]
    return "\n\n".join(parts) + "\n"


def _expected(case: Case, judgement: Judgement) -> Iterator[str]:
    yield "Every stage passes, from the module as given to the values that the calls return."
    same = {one.title: one for one in case.contrasts}
    told = []
    for title, one in judgement.contrasts.items():
        arm = one.arms.get("stock")
        if arm is not None and title in same:
            failed = first_failure(arm.stages)
            told.append(f"- {title}: {_place(failed) if failed else 'right'}")
    if told:
        yield "\n".join(["For comparison, siblings of the same program:", "", *told])


def _ladder(judgement: Judgement) -> str:
    """A line for each stage of the stock arm."""
    return "\n".join(
        f"{result.stage.value:<12} {code(describe(result, short=True), _WIDTH)}"
        for result in judgement.arms["stock"].stages
    )


def _place(result: StageResult) -> str:
    """A failure in a line, behind the name of its stage."""
    return f"{result.stage.value}: {code(describe(result), 160)}"


def _failure(result: StageResult) -> str:
    text = message(result.outcome).strip().splitlines()
    cut = [*text[: _LINES // 2], f"[{len(text) - _LINES} more lines]", *text[-_LINES // 2 :]]
    shown = text if len(text) <= _LINES else cut
    kind = describe(result).partition(": ")[0]
    head = f"`{result.stage.value}`: {code(kind, 160)}"
    return f"{head}\n\n{_fenced(chr(10).join(code(one, 400) for one in shown))}" if text else head


def _culprit(judgement: Judgement) -> Iterator[str]:
    found = judgement.arms["stock"].signature
    if not isinstance(found, Signature):
        return
    where = f"`{found.at}`" if found.at else f"the stage `{found.stage.value}`"
    native = [name for name in reversed(found.frames) if "::" in name]
    frames = ", called by ".join(f"`{name}`" for name in native)
    yield f"First noticed in {where}{f', in {frames}' if frames else ''}."
    fixed = judgement.arms.get("fixed")
    if fixed is not None and not fixed.failed and fixed.trace.fix is not None:
        yield f"With a corrected pass in its place (`{fixed.trace.fix.name}`), every stage passes."


def _environment(info: TvmInfo) -> Iterator[str]:
    yield f"TVM {info.tvm}, apache-tvm-ffi {info.tvm_ffi}, LLVM {info.llvm or 'none'}"
    yield f"Python {info.python}"
    yield info.platform


def _fenced(text: str, language: str = "") -> str:
    """A block of code, in a fence that nothing in it ends."""
    fence = "```"
    while fence in text:
        fence += "`"
    lines = "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
    return f"{fence}{language}\n{lines}\n{fence}"
