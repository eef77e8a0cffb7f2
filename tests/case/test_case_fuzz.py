"""Whatever bytes a file has: a case, or problems that point into it; soon, and nothing else.

``FUZZ_EXAMPLES=100000 pytest tests/case/test_case_fuzz.py`` tries that many inputs of each kind.
"""

from __future__ import annotations

import os
import pickle
import re
import resource
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from mutants import REPROS, lines_changed, raw, values_changed

from harness.case import CaseFileError, Problem, labels, load_case
from harness.case.source import LARGEST

SECONDS = 2.0  # of CPU, for a file of some thousand bytes
MEMORY = 200 << 10  # KiB that the whole test may take on top
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "150"))
fuzzed = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the case goes, among all builders that the real ones name."""
    folder = tmp_path_factory.mktemp("repros")
    for builder in REPROS.rglob("*.py"):
        (folder / builder.name).touch()
    return folder / "case.yaml"


@pytest.mark.fault("files")
@fuzzed
@given(content=raw)
def test_any_bytes(file: Path, content: bytes) -> None:
    check(file, content)


@pytest.mark.fault("files")
@fuzzed
@given(content=lines_changed())
def test_real_cases_with_lines_changed(file: Path, content: bytes) -> None:
    check(file, content)


@pytest.mark.fault("files")
@fuzzed
@given(content=values_changed())
def test_real_cases_with_values_changed(file: Path, content: bytes) -> None:
    check(file, content)


def check(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            case = load_case(file)
        except CaseFileError as error:
            event("problems")
            assert error.problems
            for problem in error.problems:
                check_problem(problem, content)
        else:
            event("a case")
            assert pickle.loads(pickle.dumps(case)).id == case.id  # it goes to other processes
            labels(case)
    assert time.process_time() - started < SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY


def check_problem(problem: Problem, content: bytes) -> None:
    """It stands where there is something, and is fit to be shown."""
    text = str(problem)
    assert all(c.isprintable() for c in text.replace("\n", ""))
    assert len(text) < 3000
    assert "Value error, " not in text  # an exception that pydantic has wrapped
    if problem.line == 0:
        assert len(content) > LARGEST
        return
    lines = re.split("\r\n|\r|\n", content.decode("utf-8", "replace"))
    assert 1 <= problem.line <= len(lines)
    assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1
