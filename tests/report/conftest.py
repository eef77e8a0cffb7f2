"""The hand-made traces are those of the verdict's tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "verdict"))
