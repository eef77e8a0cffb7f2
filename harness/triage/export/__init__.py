"""``tvm-repro export``: a case in the form that somebody else needs."""

from __future__ import annotations

from collections.abc import Callable

from harness import campaign
from harness.case import Case
from harness.run.pool import Pool
from harness.triage.export.issue import issue
from harness.triage.export.script import script
from harness.triage.export.suite import suite
from harness.verdict.judge import Judgement


class NothingToExport(Exception):
    """The case has no such form on the TVM at hand; the text says why."""


def as_script(case: Case, pool: Pool) -> str:
    """A program that needs TVM alone."""
    return script(case, pool.info)


def as_pytest(case: Case, pool: Pool) -> str:
    """A test in the conventions of TVM's own suite."""
    return suite(case, pool)


def as_issue(case: Case, pool: Pool) -> str:
    """A report for TVM's tracker, of what is seen now.

    Raises
    ------
    NothingToExport
        When nothing fails.
    """
    (report,) = campaign.run_cases([case], campaign.Options(), pool)
    seen: Judgement = report.judgement
    if "stock" not in seen.arms or not seen.arms["stock"].failed:
        raise NothingToExport(
            f"{case.id}: nothing to report on TVM {pool.info.tvm}: {seen.verdict.value}, "
            f"{seen.reason}"
        )
    return issue(case, seen, pool.info)


FORMS: dict[str, Callable[[Case, Pool], str]] = {
    "script": as_script,
    "pytest": as_pytest,
    "issue": as_issue,
}
