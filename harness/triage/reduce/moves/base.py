"""What a move is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from harness.triage.reduce.edit import Edit
from harness.triage.reduce.program import Program
from harness.triage.reduce.values import Types

# Ways to change one place, the most promising first: at most one of them is made.
Slot: TypeAlias = "tuple[Edit, ...]"


@dataclass(frozen=True, slots=True)
class Move:
    """A kind of change.

    Attributes
    ----------
    name : str
        Of what there will be less: a plural.
    slots : callable
        Every place of a program where it can be made.
    typed : bool
        Whether it looks at the types of names, for which TVM has to be asked.
    together : bool
        Whether changes at several places go together.
    in_kernels : bool
        Whether it changes what kernels compute. A kernel that reads what nobody wrote gives other
        numbers, or dies, for a reason of its own.
    """

    name: str
    slots: Callable[[Program, Types], list[Slot]]
    typed: bool = False
    together: bool = True
    in_kernels: bool = False
