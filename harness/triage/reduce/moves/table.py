"""All moves, those that take most away first."""

from __future__ import annotations

from functools import partial

from harness.triage.reduce.moves import (
    expressions,
    keys,
    names,
    numbers,
    parameters,
    statements,
)
from harness.triage.reduce.moves.base import Move


def moves(kept: frozenset[str]) -> tuple[Move, ...]:
    """All moves; functions whose names are in `kept` keep them."""
    renaming = partial(names.function_names, kept=kept)
    return (*_MOVES, Move("names of functions", renaming))


_MOVES = (
    Move("passes, calls and checks", keys.entries),
    Move("functions", statements.functions, typed=True),
    Move("statements", statements.relax_statements, typed=True),
    Move("blocks", statements.relax_blocks, together=False),
    Move("results", statements.returns, together=False),
    Move("parameters", parameters.parameters, typed=True),
    Move("fields", parameters.fields, together=False),
    Move("statements of kernels", statements.kernel_statements, in_kernels=True),
    Move("scopes of kernels", statements.kernel_scopes),
    Move("blocks of kernels", statements.kernel_blocks, in_kernels=True),
    Move("parameters of kernels", parameters.kernel_parameters, typed=True, in_kernels=True),
    Move("arguments and attributes", expressions.trims),
    Move("annotations", expressions.type_notes),
    Move("operands", expressions.relax_operands, typed=True, together=False),
    Move("operands of kernels", expressions.kernel_operands, together=False, in_kernels=True),
    Move("names used once", expressions.inlined, together=False),
    Move("options", keys.details),
    Move("shapes", numbers.shapes),
    Move("numbers", numbers.constants, in_kernels=True),
    Move("element types", numbers.dtypes),
    Move("arguments", keys.plainer_arguments),
    Move("elements of arguments", numbers.arguments),
    Move("names", names.local_names),
)
