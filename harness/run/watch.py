"""What a run can be asked about the passes in it, and where it ends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

# Where a pass stands: the case's pass it is part of (behind the last: the build), then its place
# among its siblings, level by level. A pass that is left out keeps its place.
Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Watch:
    """What to do about the passes of a run. All of it disturbs: a judged run has `NOTHING`.

    Attributes
    ----------
    record : bool
        Tell each pass as it begins and ends.
    look : bool
        Tell of each what it did to the module. Comparing and checking can die where passes do not.
    without : tuple of Path
        Leave these passes out.
    show : Path or None
        Print the IR before and after this pass, and end the run behind it.
    halt : bool
        End the run at the first stage that fails, where an ill-formed module else goes on.
    """

    record: bool = False
    look: bool = False
    without: tuple[Path, ...] = ()
    show: Path | None = None
    halt: bool = False

    @property
    def asks(self) -> bool:
        """Whether anything is asked about passes."""
        return replace(self, halt=False) != NOTHING


NOTHING: Final = Watch()
LOOKING: Final = Watch(record=True, look=True)
