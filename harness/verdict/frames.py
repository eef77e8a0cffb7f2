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
    names = [function_name(frame) for frame in frames]
    native = [name for name in names if name.startswith("tvm::") and not _PLUMBING.match(name)]
    if native:
        return tuple(native[-KEPT:])
    return tuple(name for name in names if _python_function(name))[-KEPT:]


def function_name(frame: str) -> str:
    """`own_name` with the names of today."""
    return canonical(own_name(frame))


def own_name(frame: str) -> str:
    """``virtual tvm::Expr tvm::relax::A<B>::Visit(const C&) const`` to ``tvm::relax::A::Visit``."""
    text = _SPECIFIERS.sub("", frame.strip())
    text = _OPERATOR.sub("operator", text)
    text = _LAMBDA.sub("", text)
    return _without_brackets(text).strip().rpartition(" ")[2].rstrip(":")


def _python_function(name: str) -> bool:
    return name.isidentifier()


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
