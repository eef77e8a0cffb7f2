"""Passes whose arguments are patterns, which no case file can write down."""

from tvm import relax
from tvm.relax.dpl import is_const, is_op, wildcard


def fuse_multiply_by_constant(mod):
    pattern = is_op("relax.multiply")(wildcard(), is_const())
    return relax.transform.FuseOpsByPattern([("demo.scale", pattern)])(mod)
