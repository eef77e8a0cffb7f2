"""``tvm-repro check``: one word on a case for ``git bisect run``."""

from __future__ import annotations

from rich.console import Console

from harness.case import Case
from harness.report.text import line
from harness.run.host import ServerError
from harness.run.pool import Pool
from harness.triage.sighting import Sighting, State, chance, look_for

GOOD, BAD, SKIP = 0, 1, 125
# git ends a bisection at a code above 127; 1 to 127 would call the commit bad.
ABORT = 128


def check(case: Case, repeat: int, rate: float | None, find: str, out: Console) -> int:
    """Say whether the bug of `case` is there, and return the exit code for git.

    Parameters
    ----------
    case : Case
    repeat : int
        How often to run it.
    rate : float, optional
        In what part of the runs the bug showed where it was, for how sure an absence is.
    find : {"introduced", "fixed"}
        What is looked for: the first commit with the bug, or the first without.
    out : Console
    """
    try:
        with Pool() as pool:
            found = look_for(case, repeat, pool)
    except ServerError as error:  # a commit that was built in vain is no commit to judge
        found = Sighting(State.UNKNOWN, str(error))
    out.print(f"{line(case.id)}: {line(str(found), 400)}", soft_wrap=True)
    if found.state is State.ABSENT and rate is not None:
        unseen = chance(rate, found.runs)
        out.print(
            f"if it shows in {rate:.0%} of runs, {found.runs} miss it in {unseen:.2g} of cases"
        )
    if found.state is State.UNKNOWN:
        return SKIP
    return BAD if (found.state is State.PRESENT) == (find == "introduced") else GOOD
