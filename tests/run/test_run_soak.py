"""After some dozen arms a fork server is what it was: nothing is kept, nothing is left."""

from __future__ import annotations

import pytest

from benchmarks import soak
from harness.run.pool import Pool


@pytest.mark.fault("soak")
def test_a_server_is_what_it_was(pool: Pool) -> None:
    """The long way is ``python -m benchmarks.soak``."""
    cases = soak.cases_of({name: min(4, arms) for name, arms in soak.ROUND.items()})
    first, last = soak.soak(pool, cases, 2, 2)
    assert last.arms - first.arms == 26
    assert first.server == last.server
    assert first.server_descriptors == last.server_descriptors
    assert first.parent_descriptors == last.parent_descriptors
    assert (last.children, last.files) == (0, first.files)
    assert last.server_rss < first.server_rss + soak.MEMORY
    assert last.parent_rss < first.parent_rss + soak.MEMORY
