"""The one place that knows how TVM releases differ. Imports TVM only inside functions."""

from __future__ import annotations

import importlib.metadata
import re
from typing import Any, Final

# A TVM release works with some ffi releases only, and pip does not know which.
# Measured: each imports, builds, runs and serialises a module.
VERIFIED_PAIRS: dict[str, tuple[str, ...]] = {
    "0.25.0.post1": ("0.1.12",),
    "0.26.0": ("0.1.13.post2",),
    "0.27.0.post1": ("0.1.14.post1", "0.1.14.post0"),
}


# Old name -> the name of today. Patterns match whole words; the first that matches a word wins.
# Names that stood for one thing and were split since (tir into tirx and s_tir) meet in one word:
# the table is for comparing what two releases said, never for making code.
_RENAMES: Final[tuple[tuple[str, str], ...]] = (
    (r"ObjectStructInfo(Node)?", r"AnyType\1"),
    (r"ObjectType(Node)?", r"AnyType\1"),
    (r"(\w*)StructInfo(\w*)", r"\1Type\2"),
    (r"struct_info_?", "ty"),
    (r"(\w+)_sinfo", r"\1_ty"),
    (r"sinfo_args", "ty_args"),
    (r"tir|s_tir", "tirx"),
    (r"ffi::Function|PackedFunc|runtime::PackedFunc", "ffi::Function"),
    (r"R\.Object", "R.Any"),
    (r"VMBuiltinLower", "LowerRuntimeBuiltin"),
    (r"RelaxExpr|RelayExpr", "Expr"),
    (r"(\w*)GetBlock(\w*)", r"\1GetSBlock\2"),
    (r"T\.block", "T.sblock"),
)

# Sentences that TVM has put in other words, or made two of one.
_REWORDED: Final[tuple[tuple[str, str], ...]] = (
    (r"\bSymbolic Var\b", "Var"),
    (r"\bexceeds (?:max|min)imum of\b", "exceeds range of"),
)

_RULES: Final = tuple(
    (re.compile(rf"(?<![\w:.])(?:{old})(?!\w)" if "::" in old else rf"\b(?:{old})\b"), new)
    for old, new in _RENAMES
) + tuple((re.compile(old), new) for old, new in _REWORDED)


def installed(package: str) -> str:
    """Version of an installed distribution; "" when there is none."""
    found = importlib.metadata.distributions(name=package)
    return next((one.version for one in found), "")


def pair_state(tvm: str, ffi: str) -> str:
    """What is known of a pair of versions, in a few words that begin with ``verified`` or not."""
    ffis = VERIFIED_PAIRS.get(tvm)
    if ffis is None:
        return f"not a verified pair: known releases of TVM are {', '.join(VERIFIED_PAIRS)}"
    if ffi not in ffis:
        return f"not a verified pair: with this TVM use apache-tvm-ffi=={ffis[0]}"
    return "verified pair"


def check_well_formed(module: Any) -> None:
    """Raise when `module` is ill-formed.

    Before 0.25 TVM's check returned False instead of raising; should it ever do so again, a plain
    call would pass everything.

    Raises
    ------
    Exception
        TVM's, naming the first violation.
    ValueError
        When TVM's check only says no.
    """
    from tvm import relax

    if relax.analysis.well_formed(module) is False:
        raise ValueError("relax.analysis.well_formed returned False")


def canonical(text: str) -> str:
    """`text` with every name and wording that TVM has changed put in today's form.

    Two releases that mean the same thing then say the same thing.

    Parameters
    ----------
    text : str
        A message, a function name, a class name or a pass name.
    """
    for pattern, new in _RULES:
        text = pattern.sub(new, text)
    return text
