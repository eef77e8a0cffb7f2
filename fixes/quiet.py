"""Keeping TVM's native warnings off the terminal."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Drop what is written to file descriptor 2, native code included.

    A pass of TVM that raises leaves warnings about half-built blocks; where it is run to see
    whether it raises, they say nothing.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 2)
    os.close(sink)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
