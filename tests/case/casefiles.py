"""Case files to test with."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.case import CaseFileError, Problem, load_case

FULL = Path(__file__).with_name("full.yaml")
GOOD = """\
title: A case
module: |
  @I.ir_module
  class Module:
      ...
expect: ok
"""


def write(path: Path, text: str) -> Path:
    """`path`, with `text` in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def problems_of(path: Path) -> tuple[Problem, ...]:
    """What is wrong with the file at `path`."""
    with pytest.raises(CaseFileError) as caught:
        load_case(path)
    return caught.value.problems
