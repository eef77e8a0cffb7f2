"""Run somebody else's tests on fixed passes.

``python -m pytest -p fixes.pytest --with-fix allocate_workspace tests/python/relax/test_x.py``
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from fixes.fix import FixError
from fixes.install import applied
from fixes.registry import names

_INSTALLED = pytest.StashKey[applied]()
_FROM_WORKERS = pytest.StashKey["Counter[str]"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("fixes").addoption(
        "--with-fix",
        action="append",
        default=[],
        metavar="NAME",
        help=f"install a fix for the whole session; may be repeated ({', '.join(names())})",
    )


def pytest_configure(config: pytest.Config) -> None:
    chosen = list(dict.fromkeys(config.getoption("--with-fix")))
    config.stash[_FROM_WORKERS] = Counter()
    try:
        config.stash[_INSTALLED] = applied(chosen).__enter__()
    except FixError as error:
        raise pytest.UsageError(f"--with-fix: {error}") from error


def pytest_unconfigure(config: pytest.Config) -> None:
    if _INSTALLED in config.stash:
        config.stash[_INSTALLED].__exit__(None, None, None)


def pytest_report_header(config: pytest.Config) -> list[str]:
    return [f"with fix: {fix.name} ({fix.issue})" for fix in config.stash[_INSTALLED].fixes]


def pytest_sessionfinish(session: pytest.Session) -> None:
    worker = getattr(session.config, "workeroutput", None)  # there under pytest-xdist only
    if worker is not None:
        worker["fixes_used"] = session.config.stash[_INSTALLED].counts


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    counts = getattr(node, "workeroutput", {}).get("fixes_used", {})
    node.config.stash[_FROM_WORKERS].update(counts)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    total = Counter(config.stash[_INSTALLED].counts) + config.stash[_FROM_WORKERS]
    for fix in config.stash[_INSTALLED].fixes:
        count = total[fix.name]
        times = "never" if not count else "once" if count == 1 else f"{count} times"
        terminalreporter.write_line(f"fix {fix.name}: stood in for {fix.replaces} {times}")
