"""What the harness asks of the operating system, where a run does not show it."""

from __future__ import annotations

import subprocess
import sys

from harness.run import process


def test_who_is_gone_already_cannot_be_killed_and_need_not() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    process.kill_one(gone.pid)
    process.kill_group(gone.pid)
    process.end_marked("A_MARK_THAT_NO_PROCESS_HAS=1")
