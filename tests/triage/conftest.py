"""One fork server for all triage tests of a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.run.pool import Pool


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    with Pool(2) as pool:
        yield pool
