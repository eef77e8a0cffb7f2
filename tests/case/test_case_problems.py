"""Each mistake is told where it stands, with what was expected, what came and what was meant.

`@@` in a text marks the place a problem has to point at.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from casefiles import GOOD, problems_of, write

from harness.case import load_case

REST = {
    "title": "title: A case\n",
    "module": "module: |\n  x\n",
    "expect": "expect: ok\n",
}


def complete(text: str) -> str:
    """`text`, with the keys that a case needs and it lacks."""
    given = {line.removeprefix("@@").partition(":")[0] for line in text.splitlines()}
    return text + "".join(part for key, part in REST.items() if key not in given)


def call(text: str) -> str:
    return f"run:\n  - call: main\n    {text}\n"


def arg(text: str) -> str:
    return call(f"args: [{text}]")


def stock(text: str) -> str:
    return f"expect:\n  stock: {text}\n"


MISTAKES = {
    # keys
    "unknown": ("@@tagz: [a]", "unknown key `tagz`", "did you mean `tags`"),
    "unknown, far": ("@@xyzzy: 1", "unknown key `xyzzy`", "one of issue, tags"),
    "duplicate": ("notes: a\n@@notes: b", "duplicate key `notes`", "line 1"),
    "duplicate, deep": (arg("{full: 1, shape: [], @@full: 2}"), "duplicate key `full`", "line 3"),
    "unknown in limits": ("limits: {@@second: 1}", "did you mean `seconds`"),
    "key is a number": ("@@1: x", "a key that is not a text", "1"),
    "key is a list": ("@@[a, b]: x", "a key that is not a text"),
    "key is a trap": ("@@on: x", "YAML versions disagree", "on"),
    # traps of YAML 1.1
    "no": ("title: @@no", "boolean", "got: no", "a text in quotes"),
    "On": ("tags: [@@On]", "boolean"),
    "yes for a flag": ("build: @@yes", "true or false"),
    "True": ("build: @@False", "boolean"),
    "NULL": ("notes: @@NULL", "null"),
    "underscore": ("repeat: @@1_0", "underscores", "1_0"),
    "base 60": ("limits: {seconds: @@1:30}", "base of 60"),
    "octal": ("repeat: @@010", "octal"),
    "octal of YAML 1.2": ("repeat: @@0o10", "octal"),
    "binary": ("repeat: @@0b1", "octal or binary"),
    "date": ("title: @@2026-11-30", "date"),
    "nan as a word": (arg("{tensor: [@@nan]}"), ".nan"),
    "bare version": ("tvm: @@0.26", "in quotes", '"==0.26"'),
    "merge key": ("build: {@@<<: {with: auto}}", "a merge key"),
    "anchor": ("build: @@&a {with: auto}", "an anchor", "&a"),
    "alias": ("tags: [a]\nrequires: @@*a", "an alias", "*a"),
    "tag": ("notes: @@!!python/object/apply:os.system [ls]", "a tag", "python/object"),
    "tag of a text": ("notes: @@!!str 1", "a tag"),
    # kinds of values
    "text wanted": ("title: @@3", "a text", "got: 3", 'quotes: "3"'),
    "null for a text": ("notes:@@", "a text", "nothing (null)"),
    "list wanted": ("tags: @@byoc", "a list", "[byoc]"),
    "whole number wanted": ("repeat: @@1.5", "a whole number", "1.5"),
    "number in quotes": ("repeat: @@'3'", "a whole number", "'3'"),
    "boolean is no number": ("repeat: @@true", "a whole number", "true"),
    "mapping wanted": ("limits: @@5", "a mapping"),
    "infinite": ("limits: {seconds: @@.inf}", "a finite number"),
    "empty title": ("title: @@''", "not empty"),
    "two lines of title": ("title: @@|\n  a\n  b", "one line"),
    "empty module": ("module: @@''", "not empty"),
    "folded module": ("module: @@>\n  x = 1\n  y = 2\n", "`module: |`"),
    "module as a list": ("module: @@[x]", "python: builder.py:make"),
    # the vocabulary
    "issue": ("issue: @@'#12'", "owner/repo#number"),
    "issue in a list": ("issue: [a/b#1, @@unknown]", "unreported"),
    "no issues": ("issue: @@[]", "at least 1"),
    "tag name": ("tags: [@@a b]", "letters"),
    "specifier": ('tvm: @@">=0.x"', "PEP 440"),
    "version without operator": ('tvm: @@"0.26"', '"==0.26"'),
    "empty specifier": ('ffi: @@""', "PEP 440"),
    "module to import": ("requires: [@@on-nx]", "Python module"),
    "fix": ("fix: @@allocate-workspace", "identifier"),
    "repeat": ("repeat: @@0", "at least 1"),
    "seconds": ("limits: {seconds: @@0}", "more than 0"),
    "memory": ("limits: {memory_mb: @@512}", "at least 768", "600 MiB"),
    # passes
    "scalar argument": ("passes: [{a.B: @@3}]", "{a: 1}", "[1]"),
    "null argument": ("passes: [{a.B: @@}]", "{a: 1}", "nothing"),
    "two passes in one item": ("passes: [@@{a.B: [1], c.D: [1]}]", "one pass an item"),
    "under outside": ("passes: [@@{a.B: [1], under: {target: x}}]", "beside the arguments"),
    "under": ("passes: [{a.B: {under: @@cuda}}]", "a mapping"),
    "under without target": ("passes: [{a.B: {under: @@{}}}]", "missing key `target`"),
    "keyword argument": ("passes: [{a.B: {c: 1, @@a-b: 1}}]", "Python identifier", "a-b"),
    "pass": ("passes: [@@relax..X]", "a dotted name"),
    "pass with a keyword": ("passes: [@@relax.import.X]", "a dotted name"),
    "pass with tvm": ("passes: [@@tvm.relax.X]", "leave `tvm.` out: relax.X"),
    "pass of another kind": ("passes: [@@7]", "a pass by name"),
    "name of arguments": ("passes: [{@@a b: [1]}]", "a dotted name"),
    "new": ("passes: [{a.B: [{new: @@'a b'}]}]", "a dotted name"),
    "new with arguments beside": ("passes: [{a.B: [{new: c.D, @@size: 1}]}]", "under `args:`"),
    # build
    "with": ("build: {with: @@relax.biuld}", "did you mean `relax.build`"),
    "pipeline": ("build: {pipeline: @@taget}", "did you mean `target`"),
    "pass in a pipeline": ("build: {pipeline: [@@a..b]}", "a dotted name"),
    "build as a number": ("build: @@1", "true or false"),
    "calls without a build": ("build: false\nrun: @@[{call: f}]", "nothing is built"),
    "target": ("build: {target: @@[llvm]}", "a target's name"),
    "opt_level": ("build: {opt_level: @@-1}", "at least 0"),
    # run
    "no call": ("run: [@@{args: []}]", "missing key `call`"),
    "argument": (arg("@@{tensr: [1]}"), "did you mean `tensor`"),
    "text as argument": (arg("@@x"), "a number, or a mapping"),
    "null as argument": (arg("@@null"), "a number"),
    "dtype": (arg("{tensor: [1], dtype: @@flaot32}"), "did you mean `float32`"),
    "ragged": (arg("{tensor: [[1, 2], @@[3]]}"), "a list of 2", "a list of 1"),
    "uneven depth": (arg("{tensor: [[1], @@2]}"), "a list of 1", "got: 2"),
    "uneven the other way": (arg("{tensor: [1, @@[2]]}"), "a number", "a list of 1"),
    "text in a tensor": (arg("{tensor: [1, @@'2']}"), "a number", "'2'"),
    "too few elements": (arg("{tensor: [1, 2], shape: @@[3]}"), "2 elements", "has 3"),
    "too many elements": (arg("{arange: 9, shape: @@[2, 4]}"), "9 elements", "has 8"),
    "negative dimension": (arg("{random: [2, @@-1]}"), "at least 0"),
    "too large for int8": (arg("{tensor: [1, @@300], dtype: int8}"), "-128 to 127", "300"),
    "negative for uint8": (arg("{full: @@-1, shape: [1], dtype: uint8}"), "0 to 255"),
    "fraction for int32": (arg("{tensor: [@@0.5], dtype: int32}"), "whole number"),
    "nan for int32": (arg("{tensor: [@@.nan], dtype: int32}"), "whole number"),
    "full without shape": (arg("@@{full: 1}"), "missing key `shape`"),
    "two kinds of argument": (arg("{tensor: [1], @@full: 1}"), "unknown key `full`"),
    "result of itself": (arg("{result_of: @@0}"), "an earlier call", "the first"),
    "result of a later call": (
        "run: [{call: f}, {call: g, args: [{tuple: [{result_of: @@5}]}]}]",
        "an earlier call: 0 to 0",
    ),
    "expression": (call("equals: @@x +"), "a Python expression", "invalid syntax"),
    "statement": (call("equals: @@x = 1"), "a Python expression"),
    "expression is a number": (call("equals: @@1"), "in quotes"),
    "expression of a parameter": (call("equals: {y: @@'x +'}"), "a Python expression"),
    "parameter": (call("equals: {@@y z: x}"), "identifier"),
    "same_as": (call("same_as: @@output"), "'input'"),
    "both checks": (call("equals: x\n    @@same_as: input"), "both `equals` and `same_as`"),
    "tolerance": (call("rtol: @@-1"), "at least 0"),
    "after": ("after: [@@{contain: x}]", "did you mean `contains`"),
    "both in after": ("after: [{contains: x, @@lacks: y}]", "unknown key `lacks`"),
    # expect
    "expect is a word": ("expect: @@okay", "did you mean `ok`"),
    "expect is nothing": ("expect: @@{}", "at least one stage"),
    "expect is an empty list": ("expect: @@[]", "at least 1"),
    "stage": (stock("{@@wel_formed: ok}"), "did you mean `well_formed`"),
    "stages and arms": ("expect: {stock: ok, @@vm: ok}", "inside `stock:` or `fixed:`"),
    "no stock": ("fix: a\nexpect: @@{fixed: ok}", "missing key `stock`"),
    "fixed without fix": ("expect: {stock: ok, @@fixed: ok}", "without a fix", "`fix: name`"),
    "versions outside a list": (
        "expect: {@@tvm: '<1', stock: ok}",
        "unknown key `tvm`",
        "a list",
    ),
    "versions beside stages": ("expect: {@@tvm: '<1', vm: ok}", "unknown key `tvm`", "a list"),
    "specifier in a list": ("expect: [{tvm: @@0.27, stock: ok}]", '"==0.27"'),
    "never reached": ("expect: [{stock: ok}, @@{tvm: '<1', stock: ok}]", "never reached"),
    "entry that says nothing": ("expect: [@@{tvm: '<1'}]", "at least one stage"),
    "outcome": (stock("{vm: @@mismach}"), "did you mean `mismatch`"),
    "key of an outcome": (stock("{vm: @@{eror: X}}"), "did you mean `error`"),
    "mismatch of a stage without values": (stock("{vm: @@mismatch}"), "only `run` and `pass`"),
    "regex": (stock("{vm: {error: E, match: @@'(a'}}"), "regular expression", "position 0"),
    "regex for frames": (stock("{vm: {error: E, in: @@'*'}}"), "nothing to repeat"),
    "class of an error": (stock("{vm: {error: @@tvm.Error}}"), "without its module"),
    "signal": (stock("{vm: {crash: @@SIGSEG}}"), "did you mean `SIGSEGV`"),
    "exit code": (stock("{vm: {exit: @@256}}"), "at most 255"),
    "one of one": (stock("{vm: {one_of: @@[ok]}}"), "at least 2"),
    "one of nested": (stock("{vm: {one_of: [ok, @@{one_of: [ok, hang]}]}}"), "ok, hang"),
    "false hang": (stock("{vm: {hang: @@false}}"), "true"),
    "names of fields": (stock("{vm: {error: E, @@type: F}}"), "unknown key `type`"),
    # contrasts
    "contrast without title": ("contrasts: [@@{expect: ok}]", "missing key `title`"),
    "contrast without expect": ("contrasts: [@@{title: a}]", "missing key `expect`"),
    "contrasts of the same title": (
        "contrasts: [{title: a, expect: ok}, {title: @@a, expect: ok}]",
        "duplicate title",
    ),
    "contrast in a contrast": (
        "contrasts: [{title: a, expect: ok, @@contrasts: []}]",
        "unknown key `contrasts`",
    ),
    "mistake in a contrast": (
        "contrasts: [{title: a, expect: ok, run: [{call: f, args: [{result_of: @@0}]}]}]",
        "an earlier call",
    ),
    # YAML
    "tab": ("tags:\n@@\t- a", "a tab", "spaces"),
    "colon": ("title: a@@: b", "needs quotes"),
    "unclosed": ("title: 'a\n@@", "not YAML"),
    "second document": (GOOD + "@@--- \na: 1", "a second document"),
    "too deep": ("notes: " + "[" * 39 + "@@" + "[" * 5, "nested too deep"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake(tmp_path: Path, mistake: str) -> None:
    marked, *fragments = MISTAKES[mistake]
    broken = mistake in ("unclosed", "second document", "tab", "colon", "too deep")
    marked = marked if broken else complete(marked.rstrip("\n") + "\n")
    before, _, after = marked.partition("@@")
    problems = problems_of(write(tmp_path / "case.yaml", before + after))
    assert len(problems) == 1, "\n".join(map(str, problems))
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    text = str(problems[0])
    assert text.startswith(f"{tmp_path / 'case.yaml'}:{line}:{column}: "), text
    for fragment in fragments:
        assert fragment in text


@pytest.mark.parametrize("missing", ["title", "module", "expect"])
def test_missing_key(tmp_path: Path, missing: str) -> None:
    text = "".join(part for key, part in REST.items() if key != missing)
    (problem,) = problems_of(write(tmp_path / "case.yaml", text))
    assert problem.message == f"missing key `{missing}`"
    assert (problem.line, problem.column) == (1, 1)


def test_everything_at_once(tmp_path: Path) -> None:
    text = """\
titel: A case
tvm: 0.26
repeat: 1_0
passes: [relax..X, {a.B: 3}]
run:
  - {call: main, args: [{result_of: 0}, {tensor: [1], dtype: in8}], equals: "x +"}
expect:
  stock: {vm: {crash: SIGSEG, at: ""}}
  fixed: ok
contrasts:
  - {title: a, expect: ok, limits: {seconds: -1}}
  - {title: a, expect: ok}
tvm: ">=0.25"
"""
    problems = problems_of(write(tmp_path / "case.yaml", text))
    assert [(p.line, p.message) for p in problems] == [
        (1, "unknown key `titel`"),
        (1, "missing key `title`"),
        (1, "missing key `module`"),
        (2, "bad `tvm`"),
        (3, "YAML versions disagree on this"),
        (4, "in `passes`: bad item 0"),
        (4, "in `passes[1]`: bad `a.B`"),
        (6, "`result_of` names a call that is not earlier"),
        (6, "in `run[0].args[1]`: bad `dtype`"),
        (6, "in `run[0]`: bad `equals`"),
        (8, "in `expect.stock.vm`: bad `crash`"),
        (8, "in `expect.stock.vm`: bad `at`"),
        (9, "`fixed` in a case without a fix"),
        (11, "in `contrasts[0].limits`: bad `seconds`"),
        (12, "duplicate title of a contrast"),
        (13, "duplicate key `tvm`"),
    ] or "\n".join(map(str, problems))


@pytest.mark.parametrize(
    ("name", "fragment"),
    [
        ("maek.py:build", "did you mean `make.py`"),
        ("folder.py:build", "no such builder"),
        ("../outside.py:build", "outside the case's folder"),
        ("/etc/passwd.py:build", "outside the case's folder"),
        ("link.py:build", "outside the case's folder"),
        ("loop.py:build", "builder"),
        ("a\\0.py:build", "cannot be read"),
        ("make.py", "`file.py:function`"),
        ("make.txt:build", "`file.py:function`"),
        ("make.py:a.b", "`file.py:function`"),
        ("make.py:", "`file.py:function`"),
    ],
)
def test_builder(tmp_path: Path, name: str, fragment: str) -> None:
    folder = tmp_path / "own"
    write(folder / "make.py", "")
    write(tmp_path / "outside.py", "")
    (folder / "folder.py").mkdir()
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    (folder / "loop.py").symlink_to(folder / "loop.py")
    python = f'{{python: "{name}"}}'
    module, passes = f"module: {python}", f"passes: [{python}]"
    build = f"build: {{pipeline: [{python}]}}"
    nested = [f"contrasts: [{{title: a, expect: ok, {one}}}]" for one in (module, passes, build)]
    for text in (module, passes, build, *nested):
        (problem,) = problems_of(write(folder / "case.yaml", complete(text + "\n")))
        assert fragment in str(problem)
        assert (problem.line, problem.column) == (1, text.index(f'"{name}"') + 1)


@pytest.mark.parametrize("value", ["1e5", "-0", "+1", ".5", "0x10", "1.", "-1.5E-3", "-.inf"])
def test_numbers_as_yaml_has_them(tmp_path: Path, value: str) -> None:
    case = load_case(write(tmp_path / "case.yaml", complete(arg(f"{{tensor: [{value}]}}"))))
    expected = int(value, 16) if "x" in value else float(value.replace(".inf", "inf"))
    assert case.run[0].args[0].data == [expected]
