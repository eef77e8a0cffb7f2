"""The pictures in README: there, small, and loading nothing from anywhere."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.pictures import LARGEST, terminal_picture

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / ".github" / "pictures"


def test_readme_shows_them() -> None:
    shown = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    assert {path for _, path in shown} >= {
        ".github/pictures/compare.svg",
        ".github/pictures/report.png",
    }
    for about, path in shown:
        assert len(about) > 20
        assert 0 < (ROOT / path).stat().st_size < LARGEST
    assert (PICTURES / "report.png").read_bytes().startswith(b"\x89PNG")


def loads(svg: str) -> list[str]:
    return re.findall(r"url\(\s*[\"']?(?!#)|@import|@font-face|<image|href=|<script", svg)


def test_the_terminal_is_that_of_the_seed() -> None:
    svg = (PICTURES / "compare.svg").read_text(encoding="utf-8")
    assert loads(svg) == []
    for word in ("reproduces", "well_formed", "stock", "fixed", "workspace_main"):
        assert word in svg


def test_a_terminal_is_drawn_without_a_font_from_the_network() -> None:
    svg = terminal_picture("\x1b[1;31mwrong <b>\x1b[0m right\n", "a title")
    assert loads(svg) == []
    assert "a&#160;title" in svg or "a title" in svg
    assert "wrong&#160;&lt;b&gt;" in svg
    assert "monospace" in svg
