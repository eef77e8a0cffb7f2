"""Commands to run, compare, check and list cases."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from itertools import groupby
from pathlib import Path

from harness import campaign
from harness.case import (
    case_id,
    json_schema,
    labels,
)
from harness.commands.inputs import (
    DEFAULT,
    arms_of,
    case_path,
    in_order,
    pass_index,
    print_problems,
    read_cases,
    results_file,
    warn_of_pair,
)
from harness.report import ir
from harness.report.catalogue import catalogue
from harness.report.changed import changed
from harness.report.changes import changes
from harness.report.changes import exit_code as code_of_changes
from harness.report.console import console
from harness.report.ladder import ladder
from harness.report.progress import progress
from harness.report.results import read_results, results_in
from harness.report.summary import one_line, summary
from harness.report.text import line
from harness.run.pool import Pool
from harness.triage import look
from harness.verdict.word import INFRA, INTERRUPTED, USAGE, exit_code


def run(options: Namespace) -> int:
    """``tvm-repro run``: judge cases, a line for each as it ends."""
    read, problems = read_cases(options)
    print_problems(problems)
    cases = in_order(read, options)
    reports: list[campaign.CaseReport] = []
    out = console()
    chosen = campaign.Options(arms_of(options.arm), options.jobs, options.isolation)
    unreadable = {path: [*group] for path, group in groupby(problems, lambda one: one.path)}
    planned = len(cases) + len(unreadable)
    with (
        Pool(chosen.jobs, chosen.isolation) as pool,
        results_file(options, pool, planned) as results,
    ):
        warn_of_pair(pool)
        for path, wrong in unreadable.items():
            if results is not None:
                results.add_unreadable(case_id(path), "\n".join(map(str, wrong)))
        try:
            with progress(out, len(cases)) as advance:
                for report in campaign.run_cases(cases, chosen, pool):
                    reports.append(report)
                    if results is not None:
                        results.add(report.case, report.judgement, report.seconds)
                    tell = options.verbose or not report.verdict.passes
                    out.print((ladder if tell else one_line)(report.case, report.judgement))
                    advance()
        except KeyboardInterrupt:
            out.print(summary(reports))
            out.print(f"interrupted: {len(reports)} of {len(cases)} cases had ended")
            return INTERRUPTED
    out.print(summary(reports))
    if unreadable:
        out.print(f"{len(unreadable)} not read: what is wrong is on stderr", style="wrong")
    return exit_code([report.verdict for report in reports], usage=bool(problems))


def compare(options: Namespace) -> int:
    """``tvm-repro compare``: both arms of a case, and what the pass does to the IR in each."""
    case = campaign.read_case(case_path(options.case))
    asked = pass_index(case, options.at)
    out = console()
    with Pool(1, options.isolation) as pool:
        chosen = campaign.Options(isolation=options.isolation)
        for report in campaign.run_cases([case], chosen, pool):
            out.print(ladder(case, report.judgement))
        index = look.pass_of_interest(case, report.judgement) if asked is None else asked
        looks = look.look(case, case.arms, index, pool)
    stock, fixed = looks.get("stock"), looks.get("fixed")
    for one in looks.values():
        title = f"{one.at} in arm {one.arm}"
        if not one.after:
            out.print(f"\n{title}: raises, so there is no IR behind it", style="title")
        elif stock is None or one is stock or not stock.after:
            out.print(f"\n{title}: what it changes", style="title")
            out.print(ir.diff(one.before, one.after, ("before", "after")), soft_wrap=True)
    if stock and fixed and stock.after and fixed.after:
        out.print(f"\n{fixed.at}: what is different with the fix", style="title")
        out.print(ir.diff(stock.after, fixed.after, ("stock", "fixed")), soft_wrap=True)
    return exit_code([report.verdict])


def diff(options: Namespace) -> int:
    """``tvm-repro diff``: what changed between two runs; 1 when somebody has to look, 3 for a run
    that says nothing."""
    old, new = (read_results(results_in(Path(given))) for given in (options.old, options.new))
    void = [f"{results.name}: {results.void}" for results in (old, new) if results.void]
    if void:
        print(*void, "nothing can be compared", sep="\n", file=sys.stderr)
        return INFRA
    found = changes(old, new)
    console().print(changed(old, new, found), soft_wrap=True)
    return code_of_changes(found)


def history(options: Namespace) -> int:
    """``tvm-repro history``: what became of each case, run by run."""
    from harness.report import history

    nights = history.nights_in(Path(options.folder))
    console().print(history.history(nights, options.all), soft_wrap=True)
    return 0


def report(options: Namespace) -> int:
    """``tvm-repro report``: results files as one HTML page."""
    from harness.commands import report as pages

    return pages.report(options)


def lint(options: Namespace) -> int:
    """``tvm-repro lint``: check case files without TVM."""
    cases, problems = read_cases(options)
    print_problems(problems)
    console().print(f"{len(cases)} cases are sound, {len({p.path for p in problems})} are not")
    return USAGE if problems else 0


def list_cases(options: Namespace) -> int:
    """``tvm-repro list``: cases with what they are about, without TVM."""
    cases, problems = read_cases(options)
    print_problems(problems)
    out = console()
    if options.markdown:
        print(catalogue(cases, DEFAULT), end="")
        return USAGE if problems else 0
    for case in cases:
        about = ", ".join([*case.issue, *([f"fix {case.fix}"] if case.fix else []), *labels(case)])
        out.print(line(case.id), style="title", soft_wrap=True)
        out.print(f"  {line(case.title)}", soft_wrap=True)
        out.print(f"  {line(about)}", style="quiet", soft_wrap=True)
    return USAGE if problems else 0


def schema(_: Namespace) -> int:
    """``tvm-repro schema``: the JSON Schema of a case file."""
    print(json.dumps(json_schema(), indent=2))
    return 0


def doctor(options: Namespace) -> int:
    """``tvm-repro doctor``: whether this machine can judge cases."""
    from harness.doctor import examine

    return examine(console(), options.canaries)


def fixes(_: Namespace) -> int:
    """``tvm-repro fixes``: the fixes and their state, found out in a process of its own."""
    root = str(Path(__file__).parents[1])
    script = (
        f"import sys; sys.path[0] = {root!r}; from fixes.__main__ import main; sys.exit(main())"
    )
    ended = subprocess.run([sys.executable, "-c", script], check=False)
    return 0 if ended.returncode == 0 else INFRA
