"""``export --as pytest``: a case as a test for TVM's own suite."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

from harness.case import BuildSpec, Case, ErrorPattern, ModuleText, PythonPass
from harness.run.lane import Job
from harness.run.pool import Pool
from harness.run.trace import TvmInfo
from harness.triage.export import program
from harness.triage.export.modules import as_class, class_name
from harness.triage.export.script import about, beside_of, helpers, imports
from harness.triage.export.values import literal
from harness.triage.look import look
from harness.verdict.outcome import stages

LICENCE = """\
# Licensed to the Apache Software Foundation (ASF) under one
# or more contributor license agreements.  See the NOTICE file
# distributed with this work for additional information
# regarding copyright ownership.  The ASF licenses this file
# to you under the Apache License, Version 2.0 (the
# "License"); you may not use this file except in compliance
# with the License.  You may obtain a copy of the License at
#
#   http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing,
# software distributed under the License is distributed on an
# "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY
# KIND, either express or implied.  See the License for the
# specific language governing permissions and limitations
# under the License.
"""
_BESIDE = Path(__file__).parent / "expected.py"
_NOT_A_TEST = "no IR to hold it against: there is none, or what TVM prints of it reads as another"


def suite(case: Case, pool: Pool) -> str:
    """The text of a test file.

    Where the case has a fix, what the fixed passes make of the module is expected, unless TVM
    cannot read what it prints.

    Parameters
    ----------
    case : Case
        A case, or a contrast as a case of its own.
    pool : Pool
        An entered pool: the passes are run on it.
    """
    expected = _expected(case, pool)
    body = "\n".join(_test(case, expected, pool.info))
    beside_imports, beside = beside_of(case)
    code = "\n\n".join(part.strip("\n") + "\n" for part in [*helpers(body), *beside, body])
    own = ["import tvm.testing", *(["import pytest"] if "pytest." in code else [])]
    lines = imports(case, code, [*own, *beside_imports])
    future = [one for one in lines if one.startswith("from __future__")]
    head = "\n".join([*future, *(one for one in lines if one not in future)]).strip("\n")
    return (
        f"{LICENCE}{about(case, pool.info)}\n{head}\n\n\n{code}\n\n"
        'if __name__ == "__main__":\n    tvm.testing.main()\n'
    )


def _expected(case: Case, pool: Pool) -> str:
    """The IR behind the passes in arm `fixed`, as text that TVM reads as the same; or ""."""
    if not (case.fix and case.passes):
        return ""
    seen = look(case, ("fixed",), len(case.passes) - 1, pool).get("fixed")
    if seen is None or not seen.after:
        return ""
    text = re.sub(r"\A(?:#.*\n|\s*\n)*", "", seen.after)
    if not class_name(text):
        return ""
    same = PythonPass(file=_BESIDE, name="equal_to", args=(text,))
    keys = {"passes": (*case.passes, same), "build": BuildSpec(enabled=False), "after": ()}
    asked = case.model_copy(update={**keys, "run": (), "contrasts": ()})
    ((_, trace),) = pool.run([[Job(asked, "fixed")]])
    return "" if any(result.failed for result in stages(trace)) else text


def _test(case: Case, expected: str, info: TvmInfo) -> Iterator[str]:
    name = re.sub(r"\W+", "_", case.id.rpartition("/")[2]).strip("_").lower()
    yield f"def test_{name}():"
    yield indent("\n".join(_statements(case, expected, _refused(case, info))), "    ")


def _refused(case: Case, info: TvmInfo) -> ErrorPattern | None:
    """What a corrected pass raises, for an input that it cannot but refuse."""
    expect = case.expectation(info.tvm, info.tvm_ffi)
    pattern = expect.arms["fixed"].stages.get("pass") if expect and case.fix else None
    return pattern if isinstance(pattern, ErrorPattern) else None


def _raises(pattern: ErrorPattern) -> str:
    kind = pattern.type if hasattr(builtins, pattern.type) else f"tvm.error.{pattern.type}"
    match = f", match={literal(pattern.match)}" if pattern.match else ""
    return f"pytest.raises({kind}{match})"


def _statements(case: Case, expected: str, refused: ErrorPattern | None) -> Iterator[str]:
    if isinstance(case.module, ModuleText) and class_name(case.module.text):
        yield as_class(case.module.text, "Before") + "\n"
        yield "mod = Before"
    else:
        read = "mod = tvm.script.from_source({}, check_well_formed=False)"
        yield (
            read.format(repr(case.module.text))
            if isinstance(case.module, ModuleText)
            else f"mod = {program.builder_call(case.module)}"
        )
        yield from program.AS_MODULE
    yield "relax.analysis.well_formed(mod)"
    if any(call.same_as_input for call in case.run) and case.build.enabled:
        yield "given_mod = mod"
    for spec in case.passes:
        scopes, statement = program.apply(spec, case.build)
        if refused is not None and spec.name.endswith(refused.at):
            yield program.block(f"with {', '.join([_raises(refused), *scopes])}", [statement])
            return
        yield program.block(f"with {', '.join(scopes)}", [statement]) if scopes else statement
        yield "relax.analysis.well_formed(mod)"
    if expected:
        yield "\n" + as_class(expected, "Expected", checked=True) + "\n"
        yield "tvm.ir.assert_structural_equal(mod, Expected)"
    elif case.passes:
        yield f"# {_NOT_A_TEST}"
    yield from program.checks_after(case)
    if case.build.enabled:
        yield from _built(case)


def _built(case: Case) -> Iterator[str]:
    relaxed = program.has_relax(case)
    if relaxed is None:
        yield program.HAS_RELAX
    yield from ["", *program.build(case, relaxed)]
    yield f"callee = {program.called_on(case, relaxed)}"
    if any(call.same_as_input for call in case.run):
        yield program.input_builder(case, relaxed)
    for number, _ in enumerate(case.run):
        yield from ["", *program.call(case, number)]
