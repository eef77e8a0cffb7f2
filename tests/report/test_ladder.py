"""What people get to see: readable in 80 columns, plain when asked, and deaf to hostile text."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from handmade import PASS, arm, case, cut_short, died, expects, fixed, raised
from rich.console import RenderableType

from harness.case import Case, Contrast, ErrorPattern, ModuleText
from harness.report.console import as_text, console
from harness.report.ladder import ladder, next_command
from harness.report.summary import counts, one_line, summary
from harness.report.text import line, lines
from harness.run.trace import ArmTrace, Stage
from harness.verdict.judge import Judgement, Verdict, infra, judge, skipped, with_contrasts

ILL = ErrorPattern(type="ValueError", match="not defined")
SEED = case(expects(well_formed=ILL), fix="allocate_workspace")
DANGLING = 'GlobalVar I.GlobalVar("inner") is not defined.'
ill = raised(Stage.WELL_FORMED, "ValueError", DANGLING, PASS)
HOSTILE = (
    "\x1b[31mred\x1b]0;title\x07 [red]x[/red] [/] :boom: \r\x08\u202egnp\u2028\ud800 " + "A" * 9000
)


def judged(stock: ArmTrace, fix: ArmTrace | None = None, of: Case = SEED) -> Judgement:
    return judge(of, of.expect[0], {"stock": [stock], "fixed": [fix] if fix else []})


def test_both_arms_side_by_side_in_80_columns() -> None:
    text = as_text(ladder(SEED, judged(arm(ill), fixed())))
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines()[0] == "reproduces  relax/some-case"
    row = next(row for row in text.splitlines() if "well_formed" in row)
    assert "error ValueError at AllocateWorkspace" in " ".join(row.split())
    assert row.rstrip().endswith("ok")
    assert "(as expected)" in text
    assert "next" not in text


def test_what_differs_shows_expected_against_seen_and_what_to_do() -> None:
    text = as_text(ladder(SEED, judged(arm(), fixed())))
    assert "fixed-upstream" in text
    assert "≠ ok" in text
    assert "expected {error: ValueError" in text
    assert "next    tvm-repro compare repros/relax/some-case.yaml" in text


def test_what_was_seen_is_told_as_a_case_says_it() -> None:
    text = as_text(ladder(SEED, judged(arm())), 80)
    assert "(stock)\n  stock: ok\n" in text
    other = raised(Stage.VM, "InternalError", "Cannot find a thing at 0x7f01 (of 12 it's there)")
    text = as_text(ladder(SEED, judged(arm(ill, other))), 80)
    assert (
        "  stock:\n"
        "    well_formed:\n"
        "      error: ValueError\n"
        "      match: 'GlobalVar I\\.GlobalVar\\(\"inner\"\\) is not defined\\.'\n"
        f"      at: {PASS}\n"
        "    vm:\n"
        "      error: InternalError\n"
        "      match: 'Cannot find a thing at 0x[0-9a-f]+ \\(of 12 it''s there\\)'\n"
    ) in text


def test_a_death_shows_the_end_of_stderr() -> None:
    stderr = "\n".join(f"frame {n}" for n in range(100))
    trace = arm(cut_short(Stage.BUILD), end=died("SIGSEGV"), stderr=stderr)
    text = as_text(ladder(SEED, judged(trace)))
    assert "crash SIGSEGV" in text
    assert "frame 99" in text
    assert "frame 50" not in text


@pytest.mark.parametrize("colour", [False, True])
def test_hostile_text_is_shown_and_does_nothing(colour: bool) -> None:
    trace = arm(
        raised(Stage.BUILD, "Err\x1b[0m", HOSTILE, "[bold]at"), stderr=HOSTILE, end=died("SIGABRT")
    )
    text = as_text(ladder(SEED, judged(trace, fixed())), colour=colour)
    assert "\x1b[31m" not in text.replace("\x1b[31m≠", "")
    assert "\x1b]" not in text
    for letter in "\x07\x08\r\u202e\u2028\ud800":
        assert letter not in text
    flat = "".join(text.split())
    assert "[red]x[/red][/]:boom:" in flat
    assert "\\x1b" in flat
    assert len(text) < 8000


def test_a_hostile_case_file_does_nothing() -> None:
    hostile = SEED.model_copy(update={"title": HOSTILE, "id": "x\x1b[2J/[red]y"})
    text = as_text(ladder(hostile, judged(arm(), of=hostile)))
    assert "\x1b" not in text
    assert "[red]y" in text


def test_contrasts_that_fail_have_a_ladder_of_their_own() -> None:
    sibling = case()
    main = SEED.model_copy(
        update={"contrasts": (Contrast(title="without the pass", case=sibling),)}
    )
    contrast = judged(arm(ill), of=sibling)
    whole = with_contrasts(judged(arm(ill), of=main), {"without the pass": contrast})
    text = as_text(ladder(main, whole))
    assert text.startswith("regressed")
    assert "contrast 'without the pass'" in text
    assert text.count("well_formed") >= 2
    assert text.count("tvm-repro compare") == 1


def test_a_module_that_does_not_parse_shows_its_place() -> None:
    of = SEED.model_copy(update={"module": ModuleText(text="a\nb\nc", line=10)})
    broken = arm(raised(Stage.LOAD, "DiagnosticError", "error: no such thing\n --> <str>:3:8"))
    assert "place   repros/relax/some-case.yaml:12" in as_text(ladder(of, judged(broken, of=of)))
    assert "place" not in as_text(ladder(of, judged(arm(ill), of=of)))


@pytest.mark.parametrize("judgement", [skipped("requires: onnx"), infra("no TVM")])
def test_nothing_was_run(judgement: Judgement) -> None:
    text = as_text(ladder(SEED, judgement))
    assert judgement.reason in text
    assert "stage" not in text


def test_the_command_is_ready_for_a_shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    odd = SEED.model_copy(update={"path": tmp_path / "my repros" / "a'b.yaml"})
    assert next_command(odd) == "tvm-repro compare 'my repros/a'\"'\"'b.yaml'"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, what: RenderableType) -> str:
    console(stream).print(what)
    return stream.getvalue()


def test_colour_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    report = ladder(SEED, judged(arm()))
    assert "\x1b[" in shown(Terminal(), report)
    assert "\x1b" not in shown(io.StringIO(), report)
    monkeypatch.setenv("NO_COLOR", "1")
    coloured = shown(Terminal(), report)
    assert not any(f"\x1b[{code}m" in coloured for code in ("31", "1;31", "32", "33"))


def test_an_ascii_stream_gets_escapes_and_no_error() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    console(stream).print(ladder(SEED, judged(arm())))
    stream.flush()
    assert b"fixed-upstream" in raw.getvalue()


class Report:
    def __init__(self, judgement: Judgement, of: Case = SEED) -> None:
        self.case, self.judgement, self.seconds = of, judgement, 1.0


def test_the_summary_lists_what_differs_and_counts_all() -> None:
    reports = [Report(judged(arm(ill))), Report(judged(arm())), Report(skipped("no onnx"))]
    rows = as_text(summary(reports), width=200).splitlines()
    assert rows == ["fixed-upstream  relax/some-case", "1 reproduces, 1 fixed-upstream, 1 skipped"]


def test_counts_of_nothing() -> None:
    assert counts([]).plain == "no cases"
    assert counts([Verdict.GUARDS] * 2).plain == "2 guards"


def test_one_line_a_case() -> None:
    assert one_line(SEED, judged(arm(ill))).plain == "reproduces      relax/some-case"
    assert one_line(SEED, skipped("requires: onnx")).plain.endswith("requires: onnx")


def test_a_long_text_keeps_both_ends() -> None:
    text = line("start " + "x" * 5000 + " the reason", 60)
    assert len(text) == 60
    assert text.startswith("start")
    assert text.endswith("the reason")


def test_the_last_lines_of_a_flood() -> None:
    assert lines("\n".join(map(str, range(100_000))), 2) == ["99998", "99999"]
    assert lines("", 5) == []
