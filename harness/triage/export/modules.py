"""A module text as TVM's users write it: a class with a decorator, wherever that is the same."""

from __future__ import annotations

import ast
from textwrap import dedent

# The dialects by the names that module texts use; every release supported spells them so.
DIALECTS = {
    "I": "from tvm.script import ir as I",
    "R": "from tvm.script import relax as R",
    "T": "from tvm.script import tirx as T",
}
_DECORATOR = "@I.ir_module"
_UNCHECKED = f"{_DECORATOR}(check_well_formed=False)"


def class_name(text: str) -> str:
    """The name of the class that a module text is; "" when it is something else.

    Also "" when Python, which runs the body of a class before TVM reads it, may stumble: over
    names in an annotation that only TVM gives a meaning.
    """
    try:
        body = ast.parse(dedent(text)).body
    except SyntaxError:
        return ""
    if len(body) != 1 or not isinstance(body[0], ast.ClassDef):
        return ""
    found = body[0]
    if [ast.unparse(one) for one in found.decorator_list] != [_DECORATOR[1:]]:
        return ""
    known = set(DIALECTS) | {"tuple", "list", "int", "float", "bool", "str", "None"}
    return found.name if _evaluated(found) <= known else ""


def as_class(text: str, name: str = "", checked: bool = False) -> str:
    """The text of a class, under another name where one is given.

    Not `checked`, TVM reads it without looking whether it is well-formed, which hides the reason.
    """
    text = dedent(text).strip("\n")
    own = class_name(text)
    if name and name != own:
        text = _renamed(text, own, name)
    return text if checked else text.replace(_DECORATOR, _UNCHECKED, 1)


def _renamed(text: str, own: str, name: str) -> str:
    """The class under another name, there and where its functions speak of it."""
    lines = text.splitlines()
    places = [
        (one.lineno - 1, one.col_offset)
        for one in ast.walk(ast.parse(text))
        if isinstance(one, ast.Name) and one.id == own
    ]
    header = next(number for number, line in enumerate(lines) if line.startswith("class "))
    for number, column in sorted([*places, (header, len("class "))], reverse=True):
        raw = lines[number].encode()
        lines[number] = (raw[:column] + name.encode() + raw[column + len(own.encode()) :]).decode()
    return "\n".join(lines)


def _evaluated(found: ast.ClassDef) -> set[str]:
    """The names that Python looks up while it makes the class."""
    evaluated: list[ast.AST] = []
    for one in found.body:
        if isinstance(one, ast.FunctionDef):
            args = one.args
            every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
            evaluated += [each.annotation for each in every if each and each.annotation]
            evaluated += [*one.decorator_list, *args.defaults]
            evaluated += [one.returns] if one.returns else []
        else:
            evaluated.append(one)
    return {each.id for part in evaluated for each in ast.walk(part) if isinstance(each, ast.Name)}


def dialects(text: str) -> list[str]:
    """The imports of the dialects that `text` speaks of."""
    return [line for name, line in DIALECTS.items() if f"{name}." in text]
