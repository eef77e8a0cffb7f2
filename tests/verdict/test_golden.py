"""Signatures, held against what four releases said of every failing case of the corpus.

What is held was made by golden/collect.py: traces of real runs, each case at least twice.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
from golden_records import as_trace
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import campaign
from harness.case import discover
from harness.run.trace import ArmTrace, End, Stage, Step, Stopped
from harness.verdict.frames import function_name
from harness.verdict.outcome import stages
from harness.verdict.signature import Signature, signature

GOLDEN = Path(__file__).parent / "golden"
REPROS = Path(__file__).parents[2] / "repros"
RELEASES = ("0.25.0.post1", "0.26.0", "0.27.0", "0.27.0.post1")

# Cases of one bug, or of two that TVM reports in the same words at the same place.
ONE_BUG: dict[str, set[str]] = {
    "apache/tvm#20479: calls to a function that was renamed": {
        "relax/allocate-workspace-chain-of-composites",
        "relax/allocate-workspace-colliding-names",
        "relax/allocate-workspace-dangling-globalvar",
        "relax/allocate-workspace-mutual-recursion",
        "relax/allocate-workspace-no-caller",
        "relax/allocate-workspace-ordinary-between",
        "relax/allocate-workspace-private-functions",
        "relax/allocate-workspace-self-recursion",
        "relax/allocate-workspace-several-sizes",
        "relax/allocate-workspace-shared-callee",
        "relax/allocate-workspace-size-zero",
        "relax/allocate-workspace-symbolic-shape",
    },
    "one workspace variable for several dataflow blocks": {
        "relax/allocate-workspace-both-branches",
        "relax/allocate-workspace-nested-if",
        "relax/allocate-workspace-two-dataflow-blocks",
    },
    "a workspace parameter for which an indirect call has no argument": {
        "relax/allocate-workspace-callee-behind-chain",
        "relax/allocate-workspace-callee-in-tuple",
        "relax/allocate-workspace-callee-in-variable",
    },
    "no workspace variable outside a dataflow block": {
        "relax/allocate-workspace-local-function",
        "relax/allocate-workspace-outside-dataflow",
    },
    "apache/tvm#20195: FuseOps moves a call above the match_cast that defines its size": {
        "relax/fuse-ops-above-match-cast",
        "relax/fuse-ops-data-dependent-size",
    },
    "an intrinsic that no rule of LLVM's lowers: which one is a printed object": {
        "codegen/exp-of-integer",
        "relax/atan-float16",
    },
    "VMShapeLower on a parameter without a shape": {
        "relax/vm-shape-lower-bundled-params",
        "relax/vm-shape-lower-weight-of-unknown-shape",
    },
    "storage planned across the branches of an if": {
        "relax/static-plan-block-memory-after-if",
        "relax/static-plan-block-memory-if-else",
    },
}
# Failures whose signature may be another in every run.
CHANCE = dict.fromkeys(
    (
        "runtime/vm-deep-recursion",
        "runtime/vm-deep-recursion#translated to TIR instead of bytecode",
    ),
    "a stack overflows in whatever function it happens to be full",
)
# Failures that are expected to be the same on all releases, and whose signature is not.
TOLD_ANOTHER_WAY: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Golden:
    """One failure of one case (``id#title`` for a contrast), seen `times` times word by word."""

    release: str
    case: str
    times: int
    trace: ArmTrace

    @property
    def whole(self) -> str:
        """The id of the case that it belongs to."""
        return self.case.partition("#")[0]


def sign(trace: ArmTrace) -> Signature:
    found = signature(stages(trace))
    assert isinstance(found, Signature)
    return found


@cache
def goldens() -> tuple[tuple[Golden, Signature], ...]:
    found = []
    for path in sorted(GOLDEN.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            trace = as_trace(record)
            one = Golden(path.stem, record["case"], record["times"], trace)
            found.append((one, sign(trace)))
    return tuple(found)


def says_why(found: Signature) -> bool:
    """Whether a signature tells bugs apart: a wrong value, a time limit or a bare signal do not."""
    if found.failure in ("mismatch", "hang", "oom") or found.failure.startswith("exit "):
        return False
    return bool(found.message or found.frames)


def test_enough_is_held() -> None:
    messages: dict[str, set[str]] = defaultdict(set)
    times: dict[tuple[str, str], int] = defaultdict(int)
    for one, _ in goldens():
        times[one.release, one.case] += one.times
        steps = one.trace.steps
        said = ((step.raised.message if step.raised else step.mismatch) or "" for step in steps)
        messages[one.release] |= set(said) - {""}
    assert messages.keys() == set(RELEASES)
    assert len(set[str]().union(*messages.values())) >= 200
    assert min(map(len, messages.values())) >= 100
    assert min(times.values()) >= 2


def test_a_failure_has_one_signature_in_every_run() -> None:
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one, signed in goldens():
        found[one.release, one.case].add(str(signed))
    varying = {case: told for case, told in found.items() if len(told) > 1}
    assert {case for _, case in varying} <= CHANCE.keys(), varying


def test_different_bugs_have_different_signatures() -> None:
    alike: dict[Signature, set[str]] = defaultdict(set)
    for one, signed in goldens():
        if says_why(signed):
            alike[signed].add(one.whole)
    unexplained = {
        str(signed): cases
        for signed, cases in alike.items()
        if len(cases) > 1 and not any(cases <= group for group in ONE_BUG.values())
    }
    assert not unexplained


@cache
def expected_alike() -> set[str]:
    """Cases and contrasts that expect the same of every release."""
    cases = [campaign.read_case(path) for path in discover([REPROS])]
    variants = (variant for case in cases for variant in campaign.variants(case))
    return {one.id for one in variants if len(one.expect) == 1}


def test_releases_agree_where_the_case_says_so() -> None:
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for one, signed in goldens():
        if one.case in expected_alike() and one.case not in CHANCE:
            found[one.case][str(signed)].add(one.release)
    differing = {case: dict(told) for case, told in found.items() if len(told) > 1}
    assert differing.keys() == TOLD_ANOTHER_WAY.keys(), differing


# Perturbations: what may differ from run to run, module to module and machine to machine.

NUMBERS = st.integers(0, 99_999).map(str)
FOLDERS = st.sampled_from(["/tmp/tmp0f_x1", "/home/a-b", "/usr/lib64/x.y"])


def on_text(trace: ArmTrace, change: Callable[[str], str]) -> ArmTrace:
    """`trace` with every message, mismatch and the output of a dying process changed."""

    def changed(step: Step) -> Step:
        raised = step.raised and replace(step.raised, message=change(step.raised.message))
        return replace(step, raised=raised, mismatch=step.mismatch and change(step.mismatch))

    steps = tuple(changed(step) for step in trace.steps)
    return replace(trace, steps=steps, stderr=change(trace.stderr))


VARYING: dict[str, tuple[re.Pattern[str], st.SearchStrategy[str]]] = {
    "addresses": (
        re.compile(r"(?<=\b0x)[0-9a-f]{6,}\b"),
        st.integers(1 << 24, (1 << 47) - 1).map("{:x}".format),
    ),
    "lines": (re.compile(r'(?<=\.cc:)\d+|(?<=\.h:)\d+|(?<=", line )\d+'), NUMBERS),
    "folders": (re.compile(r"/(?:venv|checkout|usr|project|workspace)(?=/)"), FOLDERS),
    "made names": (
        re.compile(r"(?:(?<=\blv)|(?<=\bgv)|(?<=\bfused_add)|(?<=\bparam_)|(?<=\bv_))\d*\b"),
        NUMBERS,
    ),
    # Not those in the condition of a check, which is a line of TVM's source.
    "numbers": (re.compile(r"(?<![\w.:\"'-])(?<!== )\d+(?![\w.:\"'])"), NUMBERS),
    "times": (re.compile(r"(?<=\[)\d\d:\d\d:\d\d(?=\])"), st.just("23:59:59")),
}


@settings(deadline=None, max_examples=50)
@given(st.data())
@pytest.mark.parametrize("what", VARYING)
def test_what_may_vary_changes_no_signature(what: str, data: st.DataObject) -> None:
    pattern, values = VARYING[what]
    one, signed = data.draw(st.sampled_from(holding(pattern)))

    def change(text: str) -> str:
        return pattern.sub(lambda _: data.draw(values), text)

    assert str(sign(on_text(one.trace, change))) == str(signed)


@cache
def holding(pattern: re.Pattern[str]) -> list[tuple[Golden, Signature]]:
    """Failures in whose texts something matches."""
    found: list[tuple[Golden, Signature]] = []
    for one, signed in goldens():
        texts: list[str] = []
        on_text(one.trace, lambda text, texts=texts: texts.append(text) or text)
        if any(map(pattern.search, texts)):
            found.append((one, signed))
    return found


def raising() -> Iterator[tuple[str, Step, Signature]]:
    """Failures by an exception, one for every signature."""
    told = set()
    for one, signed in goldens():
        step = next((step for step in one.trace.steps if step.stage is signed.stage), None)
        if signed not in told and step and step.raised and signed.failure != "oom":
            told.add(signed)
            yield one.case, step, signed


def mutants(step: Step, signed: Signature) -> Iterator[tuple[str, Step]]:
    """The step in each way in which it would be another bug."""
    raised = step.raised
    assert raised is not None
    yield "class", replace(step, raised=replace(raised, type=f"Other{raised.type}"))
    elsewhere = Stage.VM if step.stage is not Stage.VM else Stage.BUILD
    yield "stage", replace(step, stage=elsewhere)
    yield "pass", replace(step, at="relax.transform.Elsewhere")
    for name in signed.frames:
        frames = tuple(
            "tvm::relax::elsewhere" if function_name(frame) == name else frame
            for frame in raised.frames
        )
        yield name, replace(step, raised=replace(raised, frames=frames))
    for word in re.findall(r"(?<![<.\w])[a-z]{4,}\b(?![>.])", signed.message):
        message = re.sub(rf"\b{word}\b", "zebra", raised.message)
        if message != raised.message:
            yield word, replace(step, raised=replace(raised, message=message))


def test_what_makes_another_bug_makes_another_signature() -> None:
    clean = End(Stopped.ITSELF, code=0, final=True)
    count, survivors = 0, []
    for case, step, signed in raising():
        assert sign(ArmTrace("stock", (step,), clean)) == signed
        for what, mutant in mutants(step, signed):
            count += 1
            if sign(ArmTrace("stock", (mutant,), clean)) == signed:
                survivors.append(f"{case}: {what}")
    assert not survivors
    assert count > 500, count
