"""The summary of a CI step: complete when there is room, never too large, deaf to hostile text."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from made import DRIFTED, GUARDS, REPRODUCES, SEED, named, results
from markdown_it import MarkdownIt

from harness.report.markdown import safe, step_summary
from harness.report.matrix import Matrix, matrix

HOSTILE = (
    "`a` | b <script>x</script> <img src=x onerror=y> [c](http://e.vil) ![d](e) **f** _g_ ~~h~~ "
    "@someone #12 http://e.vil www.e.vil me@e.vil :boom: &lt; \\| \n# h\n- i $j$ \u202e\x00"
)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    count, folder = 300, tmp_path_factory.mktemp("many")
    old = [named(f"x/{n}", REPRODUCES) for n in range(count)]
    new = [named(f"x/{n}", DRIFTED if n % 10 == 0 else REPRODUCES) for n in range(count)]
    now = results(folder / "new", new)
    return matrix([now], [results(folder / "old", old)], {})


def titles(text: str) -> list[str]:
    return re.findall(r"^## (.*)", text, re.MULTILINE)


def test_changes_come_before_all_cases(many: Matrix) -> None:
    text = step_summary(many)
    assert titles(text) == ["Verdicts", "What changed", "Needs a person", "All cases"]
    assert "| drifted | x/0 | 0.27.0 | reproduces (well_formed: ValueError) | drifted (" in text
    assert "| drifted | 30 |" in text
    assert "more rows" not in text


@pytest.mark.parametrize("budget", [0, 100, 200, 300, 1_000, 3_000, 10_000, 30_000, 10_000_000])
def test_it_is_never_larger_than_its_budget(budget: int, many: Matrix) -> None:
    text = step_summary(many, budget)
    assert len(text.encode()) <= budget
    if 300 < budget < 30_000:
        assert len(text.encode()) > budget / 2
        assert "more rows: see the HTML report" in text
    # What is said of rows that are left out is true.
    for section in text.split("\n## ")[1:]:
        rows = len(re.findall(r"^\| (?:drifted \| )?(?:<sub>)?x/", section, re.MULTILINE))
        more = re.search(r"^(\d+) more rows", section, re.MULTILINE)
        whole = {"What changed": 30, "Needs a person": 30, "All cases": 300}
        expected = whole.get(section.partition("\n")[0])
        if expected is not None:
            assert rows + int(more[1] if more else 0) == expected


def test_hostile_text_has_no_meaning_to_markdown() -> None:
    markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    page = markdown.render(f"| head |\n|---|\n| {safe(HOSTILE, 2000)} |\n")
    assert set(re.findall(r"<(/?\w+)", page)) == {
        word for tag in ("table", "thead", "tbody", "tr", "th", "td") for word in (tag, f"/{tag}")
    }
    assert page.count("<td>") == 1
    # It reads as it was.
    for part in ("`a` | b", "[c](http:", "**f** _g_ ~~h~~", "&lt; \\|", "⏎ # h ⏎ - i $j$"):
        assert part.replace("&lt;", "&amp;lt;") in page


def test_hostile_text_mentions_and_links_nothing() -> None:
    markdown = MarkdownIt("commonmark")
    page = unescape(markdown.render(safe(HOSTILE, 2000)))
    # GitHub looks for these in the text of the finished page.
    assert not re.search(r"@\w|#\d|http://|www\.\w", page)
    assert "@\u200bsomeone #\u200b12 http:\u200b//e.vil www.\u200be.vil" in page
    assert "\u202e" not in page and "\0" not in page


def test_hostile_results(tmp_path: Path) -> None:
    hostile = named(HOSTILE, {**DRIFTED, "reason": HOSTILE * 1000})
    case = SEED.model_copy(update={"title": HOSTILE})
    made = matrix([results(tmp_path / "a", [hostile, GUARDS], HOSTILE)], [], {HOSTILE: case})
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(step_summary(made))
    for tag in ("<script", "<img", "<a ", "<em", "<code", "<h1"):
        assert tag not in page
    assert page.count("<table>") == 3
