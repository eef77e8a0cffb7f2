"""A child that dies at any stage, by any signal: told by stage and signal, and the next is well."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from runs import left_by, make_case, report_on, run_cli

from harness import campaign
from harness.case import STAGES, Case, signal_name
from harness.run.pool import Pool
from harness.verdict.outcome import Error
from harness.verdict.word import Verdict

IGNORED = {"SIGCHLD", "SIGCONT", "SIGURG", "SIGWINCH", "SIGPIPE", "SIGXFSZ"}  # the last by Python
STOPPING = {"SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU"}
NUMBERS = range(1, signal.NSIG)


def outcome_of(number: int) -> Any:
    """What a case has to say of a child that is struck by a signal; None for an exception."""
    name = signal_name(number)
    if name in IGNORED:
        return "ok"
    if name in STOPPING:
        return "hang"
    if name == "SIGKILL":
        return "oom"  # no telling who sent it
    return None if name == "SIGINT" else {"crash": name}


def case_of(folder: Path, stage: str, number: int) -> Case:
    outcome = outcome_of(number)
    striking = {"python": "nasty.py:through", "args": [number]}
    passes = [striking if stage == "pass" else {"python": "nasty.py:through"}]
    return make_case(
        folder,
        f"{stage}-{signal_name(number)}",
        module={"python": "nasty.py:struck", "args": [stage, number]},
        passes=passes,
        build={"pipeline": [striking]} if stage == "build" else {},
        run=[{"call": "main", "args": [{"arange": 4}], "equals": "x"}],
        expect="ok" if outcome in ("ok", None) else {stage: outcome},
        limits={"seconds": 1 if outcome == "hang" else 30},
    )


@pytest.mark.fault("signals")
@pytest.mark.parametrize("stage", STAGES)
def test_every_signal(stage: str, tmp_path: Path, pool: Pool) -> None:
    numbers = [number for number in NUMBERS if outcome_of(number) != "ok"]
    cases = [case_of(tmp_path, stage, number) for number in numbers]
    reports = {
        report.case.id: report
        for report in campaign.run_cases(cases, campaign.Options(jobs=2), pool)
    }
    assert len(reports) == len(numbers) > 50
    interrupted = reports.pop(f"{stage}-SIGINT").judgement.arms["stock"].telling
    (fault,) = (result for result in interrupted.stages if result.failed)
    assert (fault.stage.value, type(fault.outcome)) == (stage, Error)
    wrong = {id: one.judgement.reason for id, one in reports.items() if not one.verdict.passes}
    assert not wrong
    assert all(report.verdict is Verdict.REPRODUCES for report in reports.values())
    assert left_by(os.getpid()) == set()


@pytest.mark.fault("start")
def test_what_the_caller_ignores_or_blocks_is_no_matter(tmp_path: Path) -> None:
    numbers = (signal.SIGHUP, signal.SIGTERM, signal.SIGUSR1)

    def deafen() -> None:
        for number in (*numbers, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, (*numbers, signal.SIGINT))

    interrupted = {"python": "nasty.py:struck", "args": ["load", int(signal.SIGINT)]}
    make_case(tmp_path, module=interrupted, expect={"load": {"error": "KeyboardInterrupt"}})
    for number in numbers:
        case_of(tmp_path, "run", int(number))
    done = run_cli("run", "repros", cwd=tmp_path, preexec_fn=deafen)
    assert (done.returncode, done.stdout.count("reproduces")) == (0, 5), done.stdout


@pytest.mark.fault("signals")
def test_signals_that_do_nothing(tmp_path: Path, pool: Pool) -> None:
    for number in NUMBERS:
        if outcome_of(number) == "ok":
            report = report_on(case_of(tmp_path, "load", number), pool)
            assert report.verdict is Verdict.GUARDS, report.judgement.reason
