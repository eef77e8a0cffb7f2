"""Which Relax passes there are that take no argument: a program of its own tells.

TVM is imported in that program only.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from harness.run.host import ServerError

NAMESPACE = "relax.transform"


def without_arguments() -> tuple[str, ...]:
    """Names under ``tvm`` of the passes of the TVM at hand that can be made without arguments.

    Raises
    ------
    ServerError
        When TVM cannot be imported.
    """
    root = str(Path(__file__).parents[2])
    program = f"import sys; sys.path[0] = {root!r}; from {__name__} import tell; tell()"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        said = done.stderr.strip().splitlines()
        raise ServerError(said[-1] if said else "the passes cannot be listed")
    return tuple(str(name) for name in json.loads(lines[-1]))


def tell() -> None:
    """Make each pass, and print the names of those that could be made."""
    import inspect

    import tvm
    from tvm import relax

    found = []
    for name, value in sorted(vars(relax.transform).items()):
        if name.startswith("_") or inspect.ismodule(value) or not callable(value):
            continue
        try:
            made = value()
        except Exception:
            continue  # it wants arguments, or is no pass
        if isinstance(made, tvm.transform.Pass):
            found.append(f"{NAMESPACE}.{name}")
    print(json.dumps(found))
