"""``tvm-repro explain``: all that is known of a case, on one screen."""

from __future__ import annotations

from rich.console import Group, RenderableType

from harness import campaign
from harness.case import Case
from harness.report.explain import about, commands, seen
from harness.report.passes import conclusion
from harness.run.pool import Isolation, Pool
from harness.triage.locate import locate


def explain(case: Case, isolation: Isolation, run: bool) -> RenderableType:
    """What the case says and, if it is to be run, what comes of it on the TVM at hand.

    Raises
    ------
    ServerError
        When there is no TVM to run it on.
    """
    if not run:
        return Group(about(case), commands(case))
    with Pool(2, isolation) as pool:
        (report,) = campaign.run_cases([case], campaign.Options(isolation=isolation), pool)
        parts: list[RenderableType] = [about(case), seen(case, report.judgement, pool.info)]
        stock = report.judgement.arms.get("stock")
        if stock is not None and stock.failed:
            parts.append(conclusion(locate(case, "stock", pool, quick=True)))
    return Group(*parts, commands(case))
