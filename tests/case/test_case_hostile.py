"""Files that are no cases, by accident or by design: a clear problem each, soon and bounded."""

from __future__ import annotations

import os
import pickle
import time
import warnings
from pathlib import Path

import pytest
from casefiles import GOOD, problems_of, write

from harness.case import CaseFileError, Problem, load_case

MIB = 1 << 20


@pytest.mark.fault("files")
@pytest.mark.parametrize(
    ("content", "line", "column", "fragment"),
    [
        (b"", 1, 1, "an empty file"),
        (b" \n\n", 1, 1, "an empty file"),
        (b"# a comment\n", 1, 1, "an empty file"),
        (b"---\n", 2, 1, "an empty file"),
        (b"- a\n", 1, 1, "a mapping with `title`"),
        (b"just words", 1, 1, "'just words'"),
        (b"\x7fELF\x02\x01\x01\x00\x00", 1, 1, "U+007F"),
        (b"title: a\nnotes: b\x00c", 2, 9, "U+0000"),
        (b"title: \xe9\n", 1, 8, "byte 0xe9"),
        (b"\xef\xbb\xbf" + GOOD.encode(), 1, 1, "byte order mark"),
        (GOOD.encode("utf-16"), 1, 1, "UTF-16"),
        (b"x" * (10 * MIB), 0, 0, "at most 1,048,576 bytes"),
        (b"title: a\n\x1b[31mred", 2, 1, "U+001B"),
    ],
)
def test_no_case(tmp_path: Path, content: bytes, line: int, column: int, fragment: str) -> None:
    path = tmp_path / "case.yaml"
    path.write_bytes(content)
    (problem,) = problems_of(path)
    assert (problem.line, problem.column) == (line, column)
    assert fragment in str(problem)


def test_directory(tmp_path: Path) -> None:
    (tmp_path / "case.yaml").mkdir()
    assert "a directory" in str(*problems_of(tmp_path / "case.yaml"))


def test_missing(tmp_path: Path) -> None:
    assert "No such file" in str(*problems_of(tmp_path / "case.yaml"))


def test_name_with_a_nul() -> None:
    assert "cannot be read" in str(*problems_of(Path("a\0b.yaml")))


def test_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "case.yaml")
    assert "not a regular file" in str(*problems_of(tmp_path / "case.yaml"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable(tmp_path: Path) -> None:
    path = write(tmp_path / "case.yaml", GOOD)
    path.chmod(0)
    assert "Permission denied" in str(*problems_of(path))


def test_yml(tmp_path: Path) -> None:
    assert "rename it to case.yaml" in str(*problems_of(write(tmp_path / "case.yml", GOOD)))


LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
)
HOSTILE = {
    "flow lists": "[" * (MIB - 9),
    "flow mappings": "a: " + "{a: " * (MIB // 5),
    "block lists": "- " * (MIB // 3),
    "complex keys": "? " * (MIB // 3),
    "indented": "".join(f"{' ' * n}a:\n" for n in range(1400)),
    "brackets in keys": "{" * 30 + "[" * 30,
    "billion laughs": LAUGHS,
    "many keys": "".join(f"key{n}: 1\n" for n in range(60_000)),
    "many duplicates": "title: x\n" * 60_000,
    "many items": "tags: [" + "a b, " * 100_000 + "]",
    "wide tensor": f"run: [{{call: f, args: [{{tensor: [{'1, ' * 150_000}x]}}]}}]",
    "huge number": "repeat: " + "9" * 900_000,
    "huge underscore": "repeat: " + "9" * 900_000 + "_",
    "huge base 60": "repeat: 1" + ":10" * 300_000 + "x",
    "long key": "k" * 900 + ": 1",
    "long title": "title: [" + "x" * 900_000 + "]",
    "nested expression": "run: [{call: f, equals: '" + "(" * 900_000 + "'}]",
    "nested signs": "run: [{call: f, equals: '" + "-" * 9_000 + "1'}]",
    "nested groups": "expect: {vm: {error: E, match: '" + "(" * 9_000 + ")" * 8_000 + "'}}",
    "escapes": 'title: ["\\e[31m\\0\\u202e"]\n"\\0mapping": 1\n"\\e": 2\nrun: {"\\0list": 3}',
    "tags of python": "!!python/object/apply:os.system ['touch /tmp/owned']",
}


@pytest.mark.fault("files")
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / "case.yaml", HOSTILE[kind])
    started = time.process_time()
    problems = problems_of(path)
    assert time.process_time() - started < 10
    assert 0 < len(problems) <= 101
    for problem in problems:
        text = str(problem)
        assert len(text) < 3000
        assert all(c.isprintable() for c in text.replace("\n", ""))
        assert problem.line >= 1 and problem.column >= 1


def test_more_problems_than_anybody_reads(tmp_path: Path) -> None:
    text = GOOD + "".join(f"key{n}: 1\n" for n in range(250))
    problems = problems_of(write(tmp_path / "case.yaml", text))
    assert len(problems) == 101
    assert "150 more problems" in problems[-1].message


def test_warnings_of_python_are_not_the_users(tmp_path: Path) -> None:
    text = GOOD.replace("ok", "{vm: {error: E, match: '[[a]'}}")
    text += "run:\n  - call: f\n    equals: x is 1 or '\\d'\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_case(write(tmp_path / "case.yaml", text))


def test_error_survives_pickling() -> None:
    error = CaseFileError([Problem(Path("a.yaml"), 1, 2, "message", "this", "that", "hint")])
    again = pickle.loads(pickle.dumps(error))
    assert again.problems == error.problems
    assert str(again) == "a.yaml:1:2: message\n  expected: this\n  got: that\n  hint: hint"
