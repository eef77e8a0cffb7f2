"""Moves: ways to make a candidate smaller. None of them knows what is looked for."""

from __future__ import annotations

from harness.triage.reduce.moves.base import Move, Slot
from harness.triage.reduce.moves.table import moves

__all__ = ["Move", "Slot", "moves"]
