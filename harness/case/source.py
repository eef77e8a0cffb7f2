"""The text of a case file: bounded, UTF-8, printable, or a problem that says what it is instead."""

from __future__ import annotations

import re
from pathlib import Path

from harness.case.lines import Lines
from harness.case.problems import CaseFileError, Problem

LARGEST = 1 << 20  # bytes; the largest case seen has some ten thousand

_BOMS = (
    (b"\xef\xbb\xbf", "UTF-8 with a byte order mark"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]")


def read_source(path: Path) -> str:
    """The text of the file at `path`.

    Raises
    ------
    CaseFileError
        The file is missing, no file, not readable, too large, or not UTF-8 text.
    """
    raw = _bytes(path)
    for bom, name in _BOMS:
        if raw.startswith(bom):
            what = "UTF-8 without a byte order mark"
            raise CaseFileError([Problem(path, 1, 1, "not plain UTF-8", what, name)])
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        sound = raw[: error.start].decode("utf-8")
        got = f"byte 0x{raw[error.start]:02x}"
        raise _at(path, sound, len(sound), "not UTF-8", got) from None
    if bad := _UNPRINTABLE.search(text):
        got = f"U+{ord(bad[0]):04X}"
        raise _at(path, text, bad.start(), "a binary file, or a stray control character", got)
    if not text.strip():
        raise CaseFileError([Problem(path, 1, 1, "an empty file", "a case")])
    return text


def _bytes(path: Path) -> bytes:
    if path.suffix == ".yml":
        hint = f"rename it to {path.stem}.yaml"
        raise CaseFileError([Problem(path, 0, 0, "a case file ends in .yaml", hint=hint)])
    try:
        if path.exists() and not path.is_file():
            kind = "a directory" if path.is_dir() else "something else"
            raise CaseFileError([Problem(path, 0, 0, "not a regular file", "a case file", kind)])
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise CaseFileError([Problem(path, 0, 0, f"cannot be read: {reason}")]) from None
    if len(raw) > LARGEST:
        most = f"at most {LARGEST:,} bytes"
        got = f"{path.stat().st_size:,} bytes"
        raise CaseFileError([Problem(path, 0, 0, "too large for a case", most, got)])
    return raw


def _at(path: Path, text: str, index: int, message: str, got: str) -> CaseFileError:
    return CaseFileError([Problem(path, *Lines(text).place(index), message, "UTF-8 text", got)])
