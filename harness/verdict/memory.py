"""How to tell that memory ran out: it shows in several ways, none with a class of its own."""

from __future__ import annotations

import re

from harness.run.trace import Raised

# What allocators say. "allocation failure" alone is not among them: the Relax VM says it of a
# storage that is smaller than a tensor, which is a bug of the planner and not of the machine.
_ALLOCATOR = re.compile(
    r"\bbad_alloc\b|\bbad_array_new_length\b|\bout of memory\b|\bcannot allocate memory\b",
    re.IGNORECASE,
)


def ran_out_of_memory(raised: Raised) -> bool:
    """Whether an exception means that the memory limit was hit."""
    return raised.type == "MemoryError" or _ALLOCATOR.search(raised.message) is not None


def aborted_for_memory(stderr: str) -> bool:
    """Whether what an aborted process printed last says that memory ran out."""
    return _ALLOCATOR.search(stderr[-4000:]) is not None
