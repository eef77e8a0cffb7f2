"""Makes the pictures in README: `compare.svg` and `report.png`, in .github/pictures/.

    python -m benchmarks.pictures [RESULTS.jsonl...]

The comparison is that of the seed's bug on the TVM at hand; the page is made from the results
given, or else from those of all cases on each release (`tvm-repro matrix`). Needs Chromium.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

from benchmarks.chromium import Chromium

FOLDER = Path(__file__).parents[1] / ".github" / "pictures"
SEED = "relax/allocate-workspace-dangling-globalvar"
COLUMNS, ROWS = 100, 50
WIDTH, HEIGHT = 1280, 860
LARGEST = 200_000  # bytes of a picture
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"


def at_a_terminal(*arguments: str) -> str:
    """What ``tvm-repro`` prints on a terminal, with its colours."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {
        key: one for key, one in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")
    }
    with subprocess.Popen(
        [sys.executable, "-m", "harness.cli", *arguments],
        stdin=child,
        stdout=child,
        stderr=child,
        env={**environment, "TERM": "xterm-256color"},
    ) as run:
        os.close(child)
        said = b"".join(iter(lambda: _read(parent), b""))
    os.close(parent)
    if run.returncode:
        sys.exit(f"tvm-repro {' '.join(arguments)} ended with {run.returncode}:\n{said.decode()}")
    return said.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # which is how a terminal ends
        return b""


def terminal_picture(said: str, title: str) -> str:
    """The text of a terminal as SVG that loads nothing from anywhere."""
    with open(os.devnull, "w") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi(said.rstrip()), soft_wrap=True)
    svg = console.export_svg(title=title, theme=DIMMED_MONOKAI, unique_id="compare")
    svg = re.sub(r"@font-face\s*\{[^}]*\}", "", svg)
    svg = re.sub(r"font-family: *[^;]*;", f"font-family: {FONTS};", svg)
    return re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE)


def page_picture(results: Sequence[Path]) -> bytes:
    """The page of these results in a window."""
    with tempfile.TemporaryDirectory() as folder, Chromium() as browser:
        page = Path(folder) / "report.html"
        given = [str(path) for path in results]
        subprocess.run(
            [sys.executable, "-m", "harness.cli", "report", *given, "-o", str(page)], check=True
        )
        browser.size(WIDTH, HEIGHT)
        browser.open(page)
        return browser.picture()


def run_all(folder: Path) -> Path:
    """A folder with the results of all cases on each release."""
    command = [sys.executable, "-m", "harness.cli", "matrix", "--results", str(folder)]
    if subprocess.run(command, check=False).returncode > 1:
        sys.exit("the run failed")
    return folder


def main() -> None:
    given = [Path(one) for one in sys.argv[1:]]
    said = at_a_terminal("compare", SEED)
    title = f"tvm-repro compare {SEED}"
    (FOLDER / "compare.svg").write_text(terminal_picture(said, title), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        picture = page_picture(given or [run_all(Path(folder))])
    if len(picture) > LARGEST:
        sys.exit(f"the picture of the page has {len(picture)} bytes: make its window smaller")
    (FOLDER / "report.png").write_bytes(picture)


if __name__ == "__main__":
    main()
