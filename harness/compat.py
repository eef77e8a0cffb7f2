"""The one place that knows how TVM releases differ. Imports TVM only inside functions."""

from __future__ import annotations

from typing import Any

# A TVM release works with some ffi releases only, and pip does not know which.
# Measured: each imports, builds, runs and serialises a module.
VERIFIED_PAIRS: dict[str, tuple[str, ...]] = {
    "0.25.0.post1": ("0.1.12",),
    "0.26.0": ("0.1.13.post2",),
    "0.27.0.post1": ("0.1.14.post1", "0.1.14.post0"),
}


def check_well_formed(module: Any) -> None:
    """Raise when `module` is ill-formed.

    Before 0.25 TVM's check returned False instead of raising; should it ever do so again, a plain
    call would pass everything.

    Raises
    ------
    Exception
        TVM's, naming the first violation.
    ValueError
        When TVM's check only says no.
    """
    from tvm import relax

    if relax.analysis.well_formed(module) is False:
        raise ValueError("relax.analysis.well_formed returned False")
