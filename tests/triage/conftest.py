"""One fork server for all triage tests of a process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.run.pool import Pool

# The hand-made traces are those of the verdict's tests, the command line is run as in tests/run.
for _folder in ("verdict", "run"):
    sys.path.insert(0, str(Path(__file__).parent.parent / _folder))


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    with Pool(2) as pool:
        yield pool
