"""What all models of a case share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Discriminator
from pydantic_core import PydanticCustomError


class Model(BaseModel):
    """A frozen model without room for unknown keys.

    `misplaced` maps keys that authors may try here to the advice they get, `others` is for any.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_by_name=True,
        validate_by_alias=True,
        defer_build=True,  # what a command does not use, it need not wait for
    )
    misplaced: ClassVar[dict[str, str]] = {}
    others: ClassVar[str] = ""
    key: ClassVar[str] = ""  # where a union is told apart by keys: the one that means this model


KEY = "[key]"  # how pydantic ends the place of an error in a key
TAG = "\0"  # how union tags begin: no key of a file does


def tell_apart(expected: str, keys: Iterable[str] = (), words: Iterable[str] = ()) -> Discriminator:
    """A union told apart by the first of `keys` in a mapping, by a word, else by the kind of value.

    A member's tag is `TAG` and that key, word or kind: mapping, list, text or scalar (a number,
    a boolean or null).
    """
    keys, words = tuple(keys), tuple(words)

    def tag(value: Any) -> str:
        if isinstance(value, Model):
            return TAG + (value.key or "mapping")
        if isinstance(value, dict):
            return TAG + next((key for key in keys if key in value), "mapping")
        if isinstance(value, str):
            return TAG + (value if value in words else "text")
        return TAG + ("list" if isinstance(value, list | tuple) else "scalar")

    # No context: a union within a union has to be hashable, and a dict is not.
    return Discriminator(tag, custom_error_type="no_member", custom_error_message=expected)


def refuse(
    expected: str, *, got: str = "", hint: str = "", at: tuple[str | int, ...] = ()
) -> PydanticCustomError:
    """An error that says what was expected; `at` leads further down, into a nested list."""
    return PydanticCustomError(
        "refused", "expected {expected}", {"expected": expected, "got": got, "hint": hint, "at": at}
    )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``did you mean `x`?``, or "" when nothing is near."""
    folded = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word[:100].lower(), folded, n=1)
    return f"did you mean `{folded[near[0]]}`?" if near else ""
