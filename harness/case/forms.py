"""The parts of a case file as authors write them, where that is shorter than what they mean.

Where nothing is shortened, the models of `args`, `patterns` and `model` are the form as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, Strict, Tag, model_validator
from typing_extensions import Self, TypeAliasType

from harness.case.args import TENSOR_KEYS, TensorSpec
from harness.case.base import KEY, TAG, Model, refuse, tell_apart
from harness.case.model import BuildKeys, CallKeys
from harness.case.vocabulary import DottedName, Identifier, PythonExpression, Target, Text

_MAPPING, _LIST, _TEXT, _SCALAR = (
    Tag(TAG + kind) for kind in ("mapping", "list", "text", "scalar")
)


class NewForm(Model):
    """`{new: s_tir.dlight.gpu.GEMV, args: [...]}`: made by calling a name under `tvm`."""

    key: ClassVar[str] = "new"
    others: ClassVar[str] = "arguments go under `args:`, a list or a mapping"

    name: DottedName = Field(validation_alias="new")
    args: Arguments = Field(default=(), description="Positional (a list) or keyword (a mapping).")


if TYPE_CHECKING:  # mypy loses its way in the recursion
    Value: TypeAlias = Any
else:
    Value = TypeAliasType(
        "Value",
        Annotated[
            TensorSpec
            | Annotated[NewForm, Tag(TAG + "new")]
            | Annotated[dict[str, "Value"], _MAPPING]
            | Annotated[list["Value"], _LIST]
            | Annotated[str, _TEXT]
            | Annotated[bool | int | float | None, _SCALAR],
            tell_apart("a value", (*TENSOR_KEYS, "new")),
        ],
    )
Arguments = Annotated[
    Annotated[tuple[Value, ...], _LIST] | Annotated[dict[Identifier, Value], _MAPPING],
    tell_apart("arguments by keyword, as in {a: 1}, or by position, as in [1]"),
]


class UnderForm(Model):
    """The scope a pass runs in."""

    target: Target = Field(description="As `tvm.target.Target` takes it, such as cuda.")


class KeywordsForm(Model):
    """Keyword arguments of a pass, and `under:` beside them.

    Positional ones that need `under:` stand as `args: [...]`.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Value] = Field(init=False)

    under: UnderForm = Field(default_factory=UnderForm.model_construct)

    @model_validator(mode="after")
    def _names(self) -> Self:
        for name in self.__pydantic_extra__:
            if not name.isidentifier():
                raise refuse("a keyword, which is a Python identifier", got=name, at=(name, KEY))
        return self


def _python_file(text: str) -> str:
    file, colon, function = text.rpartition(":")
    if not (colon and file.endswith(".py") and function.isidentifier()):
        raise refuse("`file.py:function`, as in builder.py:make")
    return text


class PythonForm(Model):
    """`{python: builder.py:make, args: [...]}`: a function in a Python file beside the case."""

    key: ClassVar[str] = "python"
    others: ClassVar[str] = "arguments go under `args:`, a list or a mapping"

    python: Annotated[str, AfterValidator(_python_file)]
    args: Arguments = Field(default=(), description="Positional (a list) or keyword (a mapping).")


def _one_pass(item: dict[str, Any]) -> dict[str, Any]:
    if len(item) != 1:
        hint = (
            "`under:` stands beside the arguments: `- X: {a: 1, under: {target: cuda}}`, or "
            "`- X: {args: [1], under: {target: cuda}}`"
            if "under" in item
            else ""
        )
        raise refuse("one pass an item, as in `- relax.transform.X: {a: 1}`", hint=hint)
    return item


PassArguments = Annotated[
    Annotated[tuple[Value, ...], _LIST] | Annotated[KeywordsForm, _MAPPING],
    tell_apart("the pass's arguments by keyword, as in {a: 1}, or by position, as in [1]"),
]
PassForm = Annotated[
    Annotated[DottedName, _TEXT]
    | Annotated[PythonForm, Tag(TAG + "python")]
    | Annotated[dict[DottedName, PassArguments], AfterValidator(_one_pass), _MAPPING],
    tell_apart("a pass by name, {name: arguments}, or {python: file.py:function}", ("python",)),
]


ModuleForm = Annotated[
    Annotated[Text, _TEXT] | Annotated[PythonForm, Tag(TAG + "python")],
    tell_apart(
        "TVMScript as a literal block (`module: |`), or {python: builder.py:make}", ("python",)
    ),
]


class BuildMapping(BuildKeys):
    """How to build what the passes left."""

    pipeline: Annotated[
        Annotated[Literal["default", "target", "none"], _TEXT]
        | Annotated[tuple[PassForm, ...], _LIST],
        tell_apart("default, target, none, or a list of passes"),
    ] = Field(
        default="default",
        description="default: TVM's own default argument; target: relax.get_default_pipeline; "
        "none: the module is lowered already; or a list of passes.",
    )


BuildForm = Annotated[
    Annotated[bool, Strict(), _SCALAR] | Annotated[BuildMapping, _MAPPING],
    tell_apart("true, false, or a mapping with `with`, `target` and so on"),
]

_EXPRESSION = "a Python expression (in quotes when it looks like a number) or a tensor"
CheckForm = Annotated[
    TensorSpec | Annotated[PythonExpression, _TEXT], tell_apart(_EXPRESSION, TENSOR_KEYS)
]


class CallForm(CallKeys):
    """A call of a function of the module, and what it has to give."""

    equals: Annotated[
        TensorSpec
        | Annotated[PythonExpression, _TEXT]
        | Annotated[dict[Identifier, CheckForm], _MAPPING],
        tell_apart(f"{_EXPRESSION}, or a mapping from parameters to these", TENSOR_KEYS),
    ] = Field(
        default_factory=str,
        description="A Python expression over np and the function's parameters by name, or a "
        "tensor; for what a PrimFunc writes in place, a mapping from parameters to these.",
    )
    same_as: Literal["input"] = Field(
        default_factory=lambda: "input",
        description="The same call on the module before the passes gives the same.",
    )


class ContainsForm(Model):
    """`{contains: text}`: the IR text after the last pass has it."""

    key: ClassVar[str] = "contains"

    contains: Text


class LacksForm(Model):
    """`{lacks: text}`: the IR text after the last pass does not have it."""

    key: ClassVar[str] = "lacks"

    lacks: Text


class RoundTripForm(Model):
    """`{roundtrip: script}`: the module after the last pass survives being written and read.

    `script` prints it as TVMScript and parses that, `json` goes through `tvm.ir.save_json`.
    """

    key: ClassVar[str] = "roundtrip"

    roundtrip: Literal["script", "json"]


AfterForm = Annotated[
    Annotated[ContainsForm, Tag(TAG + "contains")]
    | Annotated[LacksForm, Tag(TAG + "lacks")]
    | Annotated[RoundTripForm, Tag(TAG + "roundtrip")],
    tell_apart(
        "{contains: text}, {lacks: text} or {roundtrip: script}",
        ("contains", "lacks", "roundtrip"),
    ),
]
