"""What pydantic found wrong, in the words of whoever wrote the file."""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError
from typing_extensions import TypeAliasType

from harness.case.base import KEY, TAG, Model, did_you_mean
from harness.case.problems import shown
from harness.case.tree import Flaw, Path, Spot, Tree

_EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "finite_number": "a finite number",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "too_short": "at least {min_length} of them",
    "literal_error": "{expected}",
    "refused": "{expected}",
}


def explain(error: ValidationError, root: type[BaseModel], tree: Tree, most: int) -> list[Flaw]:
    """One flaw for each thing wrong, in the order of the file.

    `root` is the model that `tree` was held against. Only the first `most` flaws are spelled
    out: in a file with thousands, nobody reads the rest.
    """
    found = [
        (_spot(one, tree), one) for one in error.errors(include_url=False) if not _follows(one)
    ]
    found.sort(key=lambda pair: (pair[0].line, pair[0].column))
    told = [_flaw(one, spot, root, tree) for spot, one in found[:most]]
    return told + [Flaw(spot, "one more") for spot, _ in found[most:]]


def _follows(found: Any) -> bool:
    """Whether it is but the consequence of another error, which is told as well."""
    too_short = found["type"] == "too_short"  # pydantic counts good items only
    if too_short and len(found["input"]) >= found["ctx"]["min_length"]:
        return True
    return bool(found["type"] == "default_factory_not_called")


def _whole_loc(found: Any) -> Path:
    return (*found["loc"], *found.get("ctx", {}).get("at", ()))


def _path(found: Any) -> Path:
    """The place in the file: without the marks of unions and mapping keys."""
    loc = _whole_loc(found)
    path = tuple(item for item in loc if not (isinstance(item, str) and item.startswith(TAG)))
    return path[:-1] if path[-1:] == (KEY,) else path


def _spot(found: Any, tree: Tree) -> Spot:
    path = _path(found)
    if found["type"] == "missing":
        return tree.value_spot(path[:-1])
    is_key = found["type"] == "extra_forbidden" or _whole_loc(found)[-1:] == (KEY,)
    return tree.spot(path) if is_key else tree.value_spot(path)


def _flaw(found: Any, spot: Spot, root: type[BaseModel], tree: Tree) -> Flaw:
    context, path = found.get("ctx", {}), _path(found)
    if found["type"] == "missing":
        return Flaw(spot, f"{_in(path[:-1])}missing key `{path[-1]}`")
    if found["type"] == "extra_forbidden":
        return _unknown_key(found["loc"], path, spot, root)
    template = _EXPECTED.get(found["type"])
    expected = template.format_map(context) if template else found["msg"]
    value = tree.at(path, found["input"])
    got = context.get("got") or shown(value)
    hint = context.get("hint") or _advice(value, expected, _words(found, root))
    return Flaw(spot, f"{_in(path[:-1])}bad {_name(path)}", _plain(expected), got, hint)


def _plain(expected: str) -> str:
    return "false" if expected == "False" else "true" if expected == "True" else expected


def _in(path: Path) -> str:
    return f"in `{dotted(path)}`: " if path else ""


def _name(path: Path) -> str:
    if not path:
        return "case"
    return f"item {path[-1]}" if isinstance(path[-1], int) else f"`{path[-1]}`"


def dotted(path: Path) -> str:
    """`run[0].args[1].dtype`"""
    text = "".join(f"[{item}]" if isinstance(item, int) else f".{item}" for item in path)
    return text.removeprefix(".")


def _unknown_key(loc: Path, path: Path, spot: Spot, root: type[BaseModel]) -> Flaw:
    model = next((one for one in _types(root, loc[:-1]) if _is_model(one)), Model)
    known = list(_fields(model))
    key = str(path[-1])
    hint = model.misplaced.get(key) or did_you_mean(key, known) or model.others
    message = f"{_in(path[:-1])}unknown key `{key}`"
    return Flaw(spot, message, f"one of {', '.join(known)}", hint=hint)


def _words(found: Any, root: type[BaseModel]) -> list[str]:
    """The words that would have been right, where there is a choice of some."""
    if found["type"] == "literal_error":
        return re.findall(r"'([^']*)'", found["ctx"]["expected"])
    if found["type"] != "no_member":
        return []
    return [tag[len(TAG) :] for one in _types(root, found["loc"]) for tag in _members(one)]


def _advice(value: Any, expected: str, words: Iterable[str]) -> str:
    if isinstance(value, str):
        near = did_you_mean(value, words)
        return near or (f"write [{value}]" if expected == "a list" and len(value) < 40 else "")
    if isinstance(value, dict):
        return next(filter(None, (did_you_mean(str(key), words) for key in value)), "")
    if expected == "a text" and isinstance(value, int | float) and not isinstance(value, bool):
        return f'a text that looks like a number needs quotes: "{value}"'
    return ""


# --- from a place in the file to the type that describes it


def _types(root: Any, loc: Path) -> Iterator[Any]:
    """The type at `loc`, without the layers around it; nothing when the way is lost."""
    here = _bare(root)
    for item in loc:
        here = _bare(_step(here, item))
    if here is not None:
        yield here


def _step(here: Any, item: str | int) -> Any:
    if isinstance(item, str) and item.startswith(TAG):
        return _members(here).get(item)
    if _is_model(here):
        field = _fields(here).get(str(item))
        return field.annotation if field else (here.__annotations__.get("__pydantic_extra__"))
    arguments = get_args(here)
    return arguments[-1 if get_origin(here) is dict else 0] if arguments else None


def _bare(type_: Any) -> Any:
    while True:
        if isinstance(type_, TypeAliasType):
            type_ = type_.__value__
        elif get_origin(type_) is Annotated:
            type_ = get_args(type_)[0]
        else:
            return type_


def _members(type_: Any) -> dict[str, Any]:
    """The members of a union by tag, those of unions within it as well."""
    type_ = _bare(type_)
    if get_origin(type_) not in (Union, types.UnionType):
        return {}
    found: dict[str, Any] = {}
    for member in get_args(type_):
        tags = [note.tag for note in getattr(member, "__metadata__", ()) if isinstance(note, Tag)]
        found |= {tags[-1]: member} if tags else _members(member)
    return found


def _is_model(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, Model)


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    """The fields by the key they have in a file."""
    model.model_rebuild()  # its annotations may be names still
    return {str(f.validation_alias or name): f for name, f in model.model_fields.items()}
