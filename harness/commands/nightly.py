"""``tvm-repro nightly``: the steps of a night, one by one."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from harness.commands import basic
from harness.commands.inputs import (
    UsageError,
    shard_of,
)
from harness.report.console import console
from harness.verdict.word import INFRA, INTERRUPTED


def nightly(options: Namespace) -> int:
    """``tvm-repro nightly``: the steps of a night, one by one."""
    from harness.triage.issues import TrackerError

    try:
        return _STEPS[options.step](options)
    except TrackerError as error:
        print(f"tvm-repro: {error}", file=sys.stderr)
        return INFRA
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise UsageError(f"{error.filename}: {error.strerror}") from None


def _nightly_wheel(options: Namespace) -> int:
    from harness.triage import nightly

    return nightly.wheel(Path(options.folder))


def _nightly_last(options: Namespace) -> int:
    from harness.triage import nightly

    console().print(nightly.last(Path(options.folder), options.workflow), soft_wrap=True)
    return 0


def _nightly_run(options: Namespace) -> int:
    """Verdicts that differ are for the report: only a run that says nothing is a failure."""
    from harness.doctor import examine

    if examine(console(), each=True):
        return INFRA
    folder = Path(options.results)
    folder.mkdir(parents=True, exist_ok=True)
    shard = shard_of(options.shard)
    options.jsonl = str(folder / f"shard-{shard.index}-of-{shard.count}.jsonl")
    if options.last and not any(Path(options.last).glob("*.jsonl")):
        options.last = None
    code = basic.run(options)
    return code if code in (INFRA, INTERRUPTED) else 0


def _nightly_report(options: Namespace) -> int:
    from harness.commands.report import cases_in
    from harness.triage import nightly

    return nightly.report(
        Path(options.last),
        Path(options.results),
        options.shards,
        Path(options.out),
        Path(options.summary) if options.summary else None,
        cases_in(Path(options.cases)),
        console(),
    )


def _nightly_issues(options: Namespace) -> int:
    from harness.triage.issues import file_issues

    console().print("\n".join(file_issues(Path(options.folder))), soft_wrap=True)
    return 0


_STEPS = {
    "wheel": _nightly_wheel,
    "last": _nightly_last,
    "run": _nightly_run,
    "report": _nightly_report,
    "issues": _nightly_issues,
}
