"""Function names of a traceback: lines move from release to release, names seldom do."""

from __future__ import annotations

import re
from typing import Final

from harness.compat import canonical

KEPT: Final = 2

# How a call gets from one place to another, not where it is: releases differ in it.
_PLUMBING = re.compile(
    r"^tvm::ffi::|^TVMFFI|^tvm_ffi\."
    r"|^tvm::(?:\w+::)*(?:Expr|Stmt|StmtExpr|Type|Object|DFPattern)"
    r"(?:Functor|Visitor|Mutator)(?:Base)?::"
)
# Functions move from one of TVM's namespaces to another; a class is written with a capital.
_NAMESPACES = re.compile(r"^tvm::(?:[a-z]\w*::)+")
_SPECIFIERS = re.compile(r"^(?:virtual|static|constexpr|inline)\s+")
_LAMBDA = re.compile(r"<lambda\b.*|\{lambda\b.*|\[clone\b.*")
_OPERATOR = re.compile(r"operator\s*(?:\(\)|\[\]|<<|>>|<=>|<=|>=|->|<|>)")


def top_frames(frames: tuple[str, ...]) -> tuple[str, ...]:
    """The innermost C++ functions of TVM's own, outermost of them first.

    Python frames are left out when there are C++ ones: the C++ code raises what Python wraps.

    Parameters
    ----------
    frames : tuple of str
        Outermost first.
    """
    named = [frame for frame in frames if not _PLUMBING.match(canonical(own_name(frame)))]
    names = [function_name(frame) for frame in named]
    native = tuple(name for name in names if name.startswith("tvm::"))
    return (native or tuple(name for name in names if name.isidentifier()))[-KEPT:]


def function_name(frame: str) -> str:
    """`own_name` with the names of today, and without the namespaces below ``tvm``."""
    return _NAMESPACES.sub("tvm::", canonical(own_name(frame)))


def own_name(frame: str) -> str:
    """``virtual tvm::Expr tvm::relax::A<B>::Visit(const C&) const`` to ``tvm::relax::A::Visit``."""
    text = _SPECIFIERS.sub("", frame.strip())
    text = _OPERATOR.sub("operator", text)
    text = _LAMBDA.sub("", text)
    return _without_brackets(text).strip().rpartition(" ")[2].rstrip(":")


def _without_brackets(text: str) -> str:
    """`text` up to the argument list, without what stands in angle brackets.

    The return type may hold brackets of its own, so only a ``(`` at depth zero ends it.
    """
    kept: list[str] = []
    depth = 0
    for letter in text:
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth -= 1
        elif depth == 0:
            if letter == "(" and "".join(kept[-9:]) != "anonymous":
                break
            kept.append(letter)
    return "".join(kept).removesuffix(" const")
