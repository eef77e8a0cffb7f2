"""``tvm-repro bisect``: between which releases a bug came in, or went."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from rich.console import Console

from harness.case import Case
from harness.report.text import line
from harness.triage.check import BAD, GOOD
from harness.triage.releases import Environment, environments, side_by_side

LOCATED, NOT_LOCATED = 0, 1


def bisect(case: Case, chosen: Sequence[str], repeat: int, find: str, out: Console) -> int:
    """Look for the bug on every release in `chosen`, oldest first, and tell where it changes.

    All are looked at: a handful of releases costs less than the doubt whether a bug that went and
    came again was halved the right way.

    Returns
    -------
    int
        0 when a change was found, else 1.

    Raises
    ------
    EnvironmentFailed
    """
    made = environments(chosen)
    codes: dict[str, int] = {}
    said: dict[str, str] = {}

    def look(one: Environment) -> None:
        done = one.run("check", str(case.path), "--repeat", str(repeat))
        codes[one.name] = done.returncode
        told = done.stdout.strip().splitlines() or done.stderr.strip().splitlines()[-1:]
        said[one.name] = told[0].partition(": ")[2] if told else "it ended without a word"

    side_by_side(made, look, jobs=1)
    for one in made:
        out.print(f"{one.name}  {line(said[one.name], 300)}", soft_wrap=True)
    judged = [one.name for one in made if codes[one.name] in (GOOD, BAD)]
    wanted = (GOOD, BAD) if find == "introduced" else (BAD, GOOD)
    for older, newer in pairwise(judged):
        if (codes[older], codes[newer]) == wanted:
            out.print(f"\n{find} between {older} and {newer}", style="title")
            out.print(_further(case.path, find), soft_wrap=True)
            return LOCATED
    out.print(f"\nno two of these releases have it {find} in between", style="title")
    return NOT_LOCATED


def _further(path: Path, find: str) -> str:
    """How to go on in a checkout of TVM."""
    option = "" if find == "introduced" else " --find fixed"
    return (
        "in a checkout of TVM, from the newer tag to the older, with your own way to build it:\n"
        f"  git bisect start NEWER OLDER && git bisect run sh -c '"
        f"BUILD || exit 125; tvm-repro check {path.absolute()}{option}'"
    )
