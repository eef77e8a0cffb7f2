"""Schedules, each from an IRModule to an IRModule, for cases about schedule primitives."""

import tvm
from tvm.s_tir import Schedule


def compute_at(mod: tvm.IRModule, inner_is: str, into: str) -> tvm.IRModule:
    """Make the inner loop of block `double` `vectorized` or `unrolled`, and move block `add_one`
    into the `inner` or `outer` loop."""
    schedule = Schedule(mod)
    (loop,) = schedule.get_loops(schedule.get_sblock("double"))
    outer, inner = schedule.split(loop, [None, 4])
    if inner_is == "vectorized":
        schedule.vectorize(inner)
    else:
        schedule.unroll(inner)
    schedule.compute_at(schedule.get_sblock("add_one"), inner if into == "inner" else outer)
    return schedule.mod


def blockize(mod: tvm.IRModule) -> tvm.IRModule:
    """Make a block of the reduction loop of block `total`."""
    schedule = Schedule(mod)
    _, reduction = schedule.get_loops(schedule.get_sblock("total"))
    schedule.blockize(reduction)
    return schedule.mod


def blockize_then_get_init(mod: tvm.IRModule) -> tvm.IRModule:
    """The same, and look up the block that holds the initialisation."""
    schedule = Schedule(mod)
    _, reduction = schedule.get_loops(schedule.get_sblock("total"))
    schedule.blockize(reduction)
    schedule.get_sblock("total_init")
    return schedule.mod


def decompose_then_get_init(mod: tvm.IRModule) -> tvm.IRModule:
    """Split off the initialisation by `decompose_reduction`, and look up its block."""
    schedule = Schedule(mod)
    block = schedule.get_sblock("total")
    _, reduction = schedule.get_loops(block)
    schedule.decompose_reduction(block, reduction)
    schedule.get_sblock("total_init")
    return schedule.mod


def get_init(mod: tvm.IRModule) -> tvm.IRModule:
    """Look up the block that holds the initialisation, in a module that has one."""
    Schedule(mod).get_sblock("total_init")
    return mod


def reverse_compute_at(mod: tvm.IRModule) -> tvm.IRModule:
    """Tile block `add_one` by 32, and move block `double` behind it, into the outer loop."""
    schedule = Schedule(mod)
    (loop,) = schedule.get_loops(schedule.get_sblock("add_one"))
    outer, _ = schedule.split(loop, [None, 32])
    schedule.reverse_compute_at(schedule.get_sblock("double"), outer)
    return schedule.mod
