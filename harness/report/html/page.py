"""The page itself. It asks the network for nothing, and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from harness.report.html import data
from harness.report.html.sides import Sides
from harness.report.matrix import Matrix
from harness.report.text import line
from harness.verdict.word import Verdict

_SCRIPTS = ("dom.js", "matrix.js", "diff.js", "case.js", "main.js")
_MOST_SHIFTS = 200


def page(matrix: Matrix, ir: Mapping[str, Sequence[Sides]]) -> str:
    """The report as HTML.

    Parameters
    ----------
    matrix : Matrix
    ir : mapping
        By case id, the IR to show of it; may be empty.
    """
    environment = Environment(
        loader=PackageLoader("harness.report.html", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["line"] = line
    style = _read("page.css")
    script = "(() => {\n" + "\n".join(map(_read, _SCRIPTS)) + "\n})();"
    return environment.get_template("page.html.j2").render(
        matrix=matrix,
        verdicts=[word for word in Verdict if any(_counts(matrix, word))],
        counts=lambda word: _counts(matrix, word),
        shifts=_shifts(matrix)[:_MOST_SHIFTS],
        more_shifts=max(0, len(_shifts(matrix)) - _MOST_SHIFTS),
        known={row.id for row in matrix.rows},
        style=Markup(style),
        script=Markup(script),
        policy=f"default-src 'none'; img-src data:; style-src {_hash(style)}; "
        f"script-src {_hash(script)}; base-uri 'none'; form-action 'none'",
        index=Markup(data.index(matrix)),
        details=Markup(data.details(matrix, ir)),
    )


def _shifts(matrix: Matrix) -> list[tuple[str, object]]:
    return [(release.name, one) for release in matrix.releases for one in release.shifts]


def _counts(matrix: Matrix, word: Verdict) -> list[int]:
    return [matrix.count(word, number) for number in range(len(matrix.releases))]


def _read(name: str) -> str:
    return (files("harness.report.html") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """As a content security policy names the one text that may be run."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
