"""A whole case file as its author writes it, and the JSON Schema that comes of it."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, Tag, WithJsonSchema, model_validator
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import Self

from harness.case.base import TAG, Model, refuse, tell_apart
from harness.case.forms import (
    AfterForm,
    BuildForm,
    BuildMapping,
    CallForm,
    ModuleForm,
    PassForm,
)
from harness.case.model import STAGES, Limits
from harness.case.patterns import MismatchPattern, OkPattern, OneOf, Pattern
from harness.case.vocabulary import Identifier, Int, ModuleName, TagName, Title, VersionSpec


def _no_mismatch(pattern: Pattern) -> Pattern:
    inner = pattern.patterns if isinstance(pattern, OneOf) else (pattern,)
    if any(isinstance(one, MismatchPattern) for one in inner):
        raise refuse("an outcome of this stage", hint="only `run` and `pass` can mismatch")
    return pattern


def _stage(description: str, alias: str | None = None) -> Any:
    return Field(default_factory=OkPattern, validation_alias=alias, description=description)


_VERSIONS_IN_A_LIST = dict.fromkeys(
    ("tvm", "ffi"), "versions stand in a list: `expect: [{tvm: ..., stock: ...}]`"
)
Outcome = Annotated[Pattern, AfterValidator(_no_mismatch)]


class StagesForm(Model):
    """Stages that are not named are ok, or not reached behind one that fails."""

    misplaced: ClassVar[dict[str, str]] = _VERSIONS_IN_A_LIST

    load: Outcome = _stage("TVMScript to IRModule.")
    input: Outcome = _stage("relax.analysis.well_formed on the module as given.")
    pass_: Pattern = _stage("The passes, one by one.", "pass")
    well_formed: Outcome = _stage("The check after every pass.")
    build: Outcome = _stage("relax.build, or tvm.compile.")
    vm: Outcome = _stage("relax.VirtualMachine.")
    run: Pattern = _stage("The calls under `run:`.")
    exit: Outcome = _stage("Everything is freed and the process ends.")
    because: str = Field(default="", description="A remark.")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.stages():
            raise refuse(f"`ok`, or at least one stage of {', '.join(STAGES)}")
        return self

    def stages(self) -> dict[str, Pattern]:
        """The stages that are named, in their order."""
        fields = {stage: "pass_" if stage == "pass" else stage for stage in STAGES}
        named = self.model_fields_set
        return {stage: getattr(self, name) for stage, name in fields.items() if name in named}


ArmForm = Annotated[
    Annotated[Literal["ok"], Tag(TAG + "ok")] | Annotated[StagesForm, Tag(TAG + "mapping")],
    tell_apart("`ok`, or a mapping from stages to outcomes", words=("ok",)),
]


class ArmsForm(Model):
    """What TVM does as installed (`stock`) and with the fix (`fixed`, ok by default)."""

    key: ClassVar[str] = "stock"
    misplaced: ClassVar[dict[str, str]] = {
        **{stage: "stages stand inside `stock:` or `fixed:`" for stage in STAGES},
        **_VERSIONS_IN_A_LIST,
    }

    stock: ArmForm
    fixed: ArmForm = "ok"
    because: str = Field(default="", description="A remark.")


class _Versions(Model):
    tvm: VersionSpec = Field(default="", description="Releases this speaks of; any by default.")
    ffi: VersionSpec = Field(default="", description="The same for apache-tvm-ffi.")


class VersionedStages(_Versions, StagesForm):
    """What both arms do on some releases."""


class VersionedArms(_Versions, ArmsForm):
    """What each arm does on some releases."""


EntryForm = Annotated[
    Annotated[VersionedArms, Tag(TAG + "stock")]
    | Annotated[VersionedArms, Tag(TAG + "fixed")]
    | Annotated[VersionedStages, Tag(TAG + "mapping")],
    tell_apart("{tvm: specifier, stock: ..., fixed: ...}", ("stock", "fixed")),
]
ExpectForm = Annotated[
    Annotated[Literal["ok"], Tag(TAG + "ok")]
    | Annotated[ArmsForm, Tag(TAG + "stock")]
    | Annotated[ArmsForm, Tag(TAG + "fixed")]
    | Annotated[StagesForm, Tag(TAG + "mapping")]
    | Annotated[
        Annotated[tuple[EntryForm, ...], Field(min_length=1)],
        Tag(TAG + "list"),
    ],
    tell_apart(
        "`ok`, {stock: ..., fixed: ...}, a mapping from stages to outcomes, or a list of such "
        "with `tvm:`",
        ("stock", "fixed"),
        ("ok",),
    ),
]


_ISSUE = r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+#[1-9][0-9]*|https?://[^\s/]+/\S*|unreported"


def _issue(text: str) -> str:
    if not re.fullmatch(_ISSUE, text):
        raise refuse("owner/repo#number, a URL, or unreported")
    return text


Issue = Annotated[
    str,
    AfterValidator(_issue),
    WithJsonSchema({"type": "string", "pattern": f"^({_ISSUE})$"}),
]
IssueForm = Annotated[
    Annotated[Issue, Tag(TAG + "text")]
    | Annotated[Annotated[tuple[Issue, ...], Field(min_length=1)], Tag(TAG + "list")],
    tell_apart("owner/repo#number, a URL, a list of these, or unreported"),
]


class CaseKeys(Model):
    """What a case may say, and a contrast may say differently."""

    issue: IssueForm = Field(default="unreported", description="Where it is reported.")
    tags: tuple[TagName, ...] = Field(default=(), description="For `-m` on the command line.")
    tvm: VersionSpec = Field(default="", description="Releases it is for; others: skipped.")
    ffi: VersionSpec = Field(default="", description="The same for apache-tvm-ffi.")
    notes: str = Field(default="", description="What a reader should know.")
    passes: tuple[PassForm, ...] = Field(
        default=(),
        description="In order, each a dotted name under `tvm.`, or a Python function beside the "
        "case.",
    )
    fix: Identifier = Field(
        default="", description="A name in fixes/; without it there is no `fixed` arm."
    )
    build: BuildForm = Field(
        default_factory=BuildMapping,
        description="false: stop after well_formed; true: as TVM does it.",
    )
    run: tuple[CallForm, ...] = Field(default=(), description="Calls on the build, in order.")
    after: tuple[AfterForm, ...] = Field(
        default=(), description="Checks on the module after the last pass."
    )
    requires: tuple[ModuleName, ...] = Field(
        default=(), description="Python modules; when one is missing the case is skipped."
    )
    limits: Limits = Field(default_factory=Limits, description="Of a whole arm.")
    repeat: Int = Field(default=1, ge=1, le=1000, description="Run each arm so often.")


class ContrastForm(CaseKeys):
    """A sibling run that must hold too: the case with these keys in place of its own."""

    title: Title = Field(description="How it differs, in one line.")
    module: ModuleForm = Field(default_factory=str)
    expect: ExpectForm


class CaseFile(CaseKeys):
    """One bug in TVM: a module, what is done with it, and what is seen."""

    title: Title = Field(description="What goes wrong, in one line.")
    module: ModuleForm = Field(
        description="TVMScript as its author wrote it, with I, R and T in scope."
    )
    expect: ExpectForm = Field(description="What each stage does, in each arm.")
    contrasts: tuple[ContrastForm, ...] = Field(
        default=(), description="Sibling runs that must hold too."
    )


class _Schema(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        """A key is its own title."""
        return False

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        """Members overlap where a plain mapping is one of them: any will do."""
        members = super().tagged_union_schema(schema)
        return {"anyOf": members["oneOf"]} if "oneOf" in members else members


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a case file as it is written."""
    schema = CaseFile.model_json_schema(schema_generator=_Schema)
    return {"$schema": _Schema.schema_dialect, **schema}
