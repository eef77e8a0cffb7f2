"""A room without network and with a file system that cannot be written to, where bwrap makes one.

For code that nobody has read yet. What it can still do is read files; and the kernel is shared.
"""

from __future__ import annotations

import shutil
import subprocess

_OPTIONS = (
    *("--ro-bind", "/", "/"),
    *("--dev", "/dev"),
    *("--proc", "/proc"),
    "--unshare-net",
    "--unshare-pid",
    "--unshare-ipc",
    "--die-with-parent",
)


def sandbox() -> tuple[str, ...]:
    """The command to put in front of another; empty when this machine does not allow it."""
    program = shutil.which("bwrap")
    if program is None:
        return ()
    command = (program, *_OPTIONS)
    try:
        tried = subprocess.run([*command, "true"], capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return command if tried.returncode == 0 else ()
