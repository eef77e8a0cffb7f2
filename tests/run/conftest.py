"""One fork server for all tests of a process: what one test does to it must not matter to others.

That is what isolation promises, so the sharing is a test of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.run.pool import Pool


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    with Pool(2) as pool:
        yield pool


@pytest.fixture(scope="session")
def cold_pool() -> Iterator[Pool]:
    with Pool(2, isolation="spawn") as pool:
        yield pool
