"""The small vocabulary that the fields of a case are written in."""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from collections.abc import Callable, Iterable
from typing import Annotated, Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version
from pydantic import AfterValidator, BeforeValidator, Field, Strict, Tag, WithJsonSchema

from harness.case.base import TAG, did_you_mean, refuse, tell_apart
from harness.case.signals import SIGNALS


def _one_of(words: Iterable[str], what: str) -> Callable[[str], str]:
    known = tuple(words)

    def check(word: str) -> str:
        if word not in known:
            raise refuse(what, hint=did_you_mean(word, known))
        return word

    return check


def _specifier(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier as error:
        bare = f'say which, as in "=={text}"' if _is_version(text) else ""
        raise refuse(
            'a PEP 440 specifier, such as ">=0.25,<0.28"', hint=bare or str(error)
        ) from None
    if not text.strip():  # which packaging takes
        raise refuse('a PEP 440 specifier, such as ">=0.25"', hint="leave the key out for any")
    return text


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def _quoted(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise refuse("a specifier in quotes", hint=f'say which, as in "=={value}"')
    return value


def _bounded(text: str) -> None:
    if len(text) > LONGEST_PATTERN:
        raise refuse(f"at most {LONGEST_PATTERN} characters", got=f"{len(text)} characters")


def _regex(text: str) -> str:
    _bounded(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise refuse("a regular expression that compiles", hint=str(error)) from None
    return text


def _expression(text: str) -> str:
    _bounded(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise refuse("a Python expression", hint=_where(error)) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise refuse("a Python expression", hint=str(error) or type(error).__name__) from None
    return text


def _where(error: SyntaxError) -> str:
    where = f" at line {error.lineno}, column {error.offset} of it" if error.offset else ""
    return f"{error.msg}{where}"


def _dotted(name: str) -> str:
    parts = name.split(".")
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        raise refuse("a dotted name under `tvm`, such as relax.transform.FuseOps")
    if parts[0] == "tvm":
        raise refuse("a dotted name under `tvm`", hint=f"leave `tvm.` out: {name[4:] or '...'}")
    return name


def _module_name(name: str) -> str:
    if not all(part.isidentifier() for part in name.split(".")):
        raise refuse("the name of a Python module to import, such as onnx")
    return name


def _tag_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name) or keyword.iskeyword(name):
        raise refuse("a tag of letters, digits, `_`, `-` and `.`, such as byoc")
    return name


def _identifier(name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise refuse("a Python identifier")
    return name


def _error_class(name: str) -> str:
    if not name.isidentifier():
        raise refuse(
            "the name of an exception class, such as ValueError",
            hint="the class alone, without its module" if "." in name else "",
        )
    return name


def number(value: Any) -> Any:
    """`value` if it is a number or a boolean."""
    if not isinstance(value, int | float):
        raise refuse("a number, or true or false")
    return value


def _memory(megabytes: int) -> int:
    if megabytes < LEAST_MEMORY:
        raise refuse(f"at least {LEAST_MEMORY}: TVM itself needs about 600 MiB")
    return megabytes


def _title(title: str) -> str:
    if "\n" in title.strip():
        raise refuse("a title of one line", hint="what needs more room goes under `notes:`")
    return title.strip()


def _text(text: str) -> str:
    if not text.strip():
        raise refuse("a text that is not empty")
    return text


DTYPES = (
    *("bool", "float16", "float32", "float64", "bfloat16"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("int4", "uint4", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"),
    *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
)

LEAST_MEMORY = 768  # MiB
LONGEST_PATTERN = 10_000  # characters of a regex or an expression


def _schema(pattern: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": f"^{pattern}$"})


_NAME = "[A-Za-z_][A-Za-z0-9_]*"

Int = Annotated[int, Strict()]
Float = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Bool = Annotated[bool, Strict()]
Dim = Annotated[int, Strict(), Field(ge=0, lt=2**63)]
Shape = tuple[Dim, ...]
Number = Annotated[bool | int | float, BeforeValidator(number)]
Memory = Annotated[
    int, Strict(), AfterValidator(_memory), Field(json_schema_extra={"minimum": LEAST_MEMORY})
]

Text = Annotated[str, AfterValidator(_text)]
Title = Annotated[str, AfterValidator(_text), AfterValidator(_title)]
VersionSpec = Annotated[
    str, BeforeValidator(_quoted), AfterValidator(_specifier), _schema("[ ]*[<>=!~].*")
]
Regex = Annotated[str, AfterValidator(_regex)]
PythonExpression = Annotated[str, AfterValidator(_expression)]
DottedName = Annotated[str, AfterValidator(_dotted), _schema(rf"{_NAME}(\.{_NAME})*")]
Identifier = Annotated[str, AfterValidator(_identifier), _schema(_NAME)]
ModuleName = Annotated[str, AfterValidator(_module_name), _schema(rf"{_NAME}(\.{_NAME})*")]
TagName = Annotated[str, AfterValidator(_tag_name), _schema("[A-Za-z][A-Za-z0-9_.-]*")]
ErrorClass = Annotated[str, AfterValidator(_error_class), _schema(_NAME)]
DType = Annotated[
    str,
    AfterValidator(_one_of(DTYPES, "a dtype, such as float32")),
    WithJsonSchema({"type": "string", "enum": list(DTYPES)}),
]
SignalName = Annotated[
    str,
    AfterValidator(_one_of(SIGNALS, "a signal's name, such as SIGSEGV")),
    _schema("SIG[A-Z0-9+]+"),
]
Target = Annotated[
    Annotated[Text, Tag(TAG + "text")] | Annotated[dict[str, Any], Tag(TAG + "mapping")],
    tell_apart("a target's name, such as llvm, or a mapping of its attributes"),
]
