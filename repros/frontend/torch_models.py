"""PyTorch programs of one operator, exported and imported into Relax: a function a case."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
import tvm
from tvm.relax.frontend.torch import from_exported_program


class Program(torch.nn.Module):
    """A function as a module, which is what torch exports, with its parameters' names."""

    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.forward = function


def imported(function: Callable[..., torch.Tensor], *examples: torch.Tensor) -> tvm.IRModule:
    """The module of `function`, for arguments like `examples`, which returns a bare tensor."""
    program = torch.export.export(Program(function).eval(), examples)
    return from_exported_program(program, unwrap_unit_return_tuple=True)


def floats(*shape: int) -> torch.Tensor:
    return torch.zeros(shape)


def integers(*shape: int) -> torch.Tensor:
    return torch.zeros(shape, dtype=torch.int64)


def avg_pool_with_divisor() -> tvm.IRModule:
    return imported(lambda x: F.avg_pool2d(x, 2, divisor_override=3), floats(1, 1, 2, 4))


def avg_pool_3d_with_divisor() -> tvm.IRModule:
    return imported(lambda x: F.avg_pool3d(x, 2, divisor_override=3), floats(1, 1, 2, 2, 4))


def avg_pool() -> tvm.IRModule:
    return imported(lambda x: F.avg_pool2d(x, 2), floats(1, 1, 2, 4))


def add_with_alpha() -> tvm.IRModule:
    return imported(lambda x, y: torch.add(x, y, alpha=3), floats(3), floats(3))


def add_number_with_alpha() -> tvm.IRModule:
    return imported(lambda x: torch.add(x, 2, alpha=3), floats(3))


def sub_with_alpha() -> tvm.IRModule:
    return imported(lambda x, y: torch.sub(x, y, alpha=3), floats(3), floats(3))


def rsub_with_alpha() -> tvm.IRModule:
    return imported(lambda x, y: torch.rsub(x, y, alpha=3), floats(3), floats(3))


def add() -> tvm.IRModule:
    return imported(lambda x, y: torch.add(x, y), floats(3), floats(3))


def addmm() -> tvm.IRModule:
    arguments = floats(2), floats(2, 2), floats(2, 2)
    return imported(lambda x, y, z: torch.addmm(x, y, z, beta=0.5, alpha=3), *arguments)


def interpolate() -> tvm.IRModule:
    return imported(lambda x: F.interpolate(x, size=(1, 4)), floats(1, 1, 1, 3))


def interpolate_by_factor() -> tvm.IRModule:
    return imported(lambda x: F.interpolate(x, scale_factor=(1.0, 1.5)), floats(1, 1, 1, 3))


def interpolate_twice() -> tvm.IRModule:
    return imported(lambda x: F.interpolate(x, size=(1, 6)), floats(1, 1, 1, 3))


def index() -> tvm.IRModule:
    return imported(lambda x, i, j: x[i, j], floats(2, 3), integers(2), integers(2))


def divide_integers() -> tvm.IRModule:
    return imported(lambda x, y: x / y, integers(2), integers(2))


def divide_integers_by_two() -> tvm.IRModule:
    return imported(lambda x: x / 2, integers(2))


def divide_floats() -> tvm.IRModule:
    return imported(lambda x, y: x / y, floats(2), floats(2))


def floor_divide_integers() -> tvm.IRModule:
    return imported(lambda x, y: x // y, integers(2), integers(2))


def group_norm() -> tvm.IRModule:
    return imported(lambda x: F.group_norm(x, 2), floats(1, 2, 2))


def group_norm_with_weights() -> tvm.IRModule:
    arguments = floats(1, 2, 2), floats(2), floats(2)
    return imported(lambda x, w, b: F.group_norm(x, 2, w, b), *arguments)


def norm_zero() -> tvm.IRModule:
    return imported(lambda x: torch.linalg.vector_norm(x, ord=0), floats(4))


def norm_one() -> tvm.IRModule:
    return imported(lambda x: torch.linalg.vector_norm(x, ord=1), floats(4))
