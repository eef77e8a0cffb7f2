"""What reducing begins with: the failure as it is here, and a program that shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from harness import campaign
from harness.case import Case, ModuleText
from harness.run.lane import Job
from harness.run.pool import Pool
from harness.run.trace import NAMES, Stage
from harness.triage.reduce.goal import Goal, time_limit
from harness.triage.reduce.oracle import Candidate, Oracle
from harness.triage.reduce.program import KEYS, Data, Program
from harness.triage.reduce.reference import Reference, references
from harness.triage.reduce.script import NotPython, parsed
from harness.verdict.outcome import StageResult, stages
from harness.verdict.signature import NoFailure, Signature, signature


class CannotReduce(Exception):
    """There is nothing to reduce, or no way to; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Start:
    """A program that meets the goal on this machine.

    Attributes
    ----------
    oracle : Oracle
    program : Program
    remarks : tuple of str
        What the user should know.
    """

    oracle: Oracle
    program: Program
    remarks: tuple[str, ...]


def begin(case: Case, written: Data, pool: Pool) -> Start:
    """Run the case, and find a form of it in which it can be reduced.

    Parameters
    ----------
    case : Case
    written : dict
        What its file says.
    pool : Pool

    Raises
    ------
    CannotReduce
    """
    if reason := campaign.reason_to_skip(case, pool.info):
        raise CannotReduce(f"{case.id} is not for this TVM: {reason}")
    (seen,) = (stages(trace) for _, trace in pool.run([[Job(case, "stock")]]))
    found = _failure(case, seen, pool)
    goal = Goal(found, time_limit(seen, found.failure, case.limits.seconds))
    forms = list(_forms(case, written, Oracle(case, pool, goal)))
    for form, remark in forms:
        for reference in references(case, form, found):
            oracle = _oracle(case, pool, goal, reference)
            if oracle and oracle.first([Candidate(0, reference.program)]):
                told = [f"wrong against {reference.told}"] if reference.told else []
                return Start(oracle, reference.program, (*told, *([remark] if remark else [])))
    raise CannotReduce(_why_not(case, found))


def _failure(case: Case, seen: tuple[StageResult, ...], pool: Pool) -> Signature:
    found = signature(seen)
    if isinstance(found, NoFailure):
        tvm = f"TVM {pool.info.tvm} with ffi {pool.info.tvm_ffi}"
        raise CannotReduce(f"nothing fails in {case.id} on {tvm}, so there is nothing to keep")
    if found.stage is Stage.LOAD and found.at == NAMES:
        raise CannotReduce(f"{case.id} does not load on this TVM: {found.message}")
    return found


def _forms(case: Case, written: Data, oracle: Oracle) -> Iterator[tuple[Program, str]]:
    """The module as a text that moves can change; at last, as it is."""
    data = {key: written[key] for key in KEYS if key in written}
    whole = Program("", {**data, "module": written["module"]})
    if isinstance(case.module, ModuleText):
        text, kind = case.module.text, "text"
    else:
        text, kind = oracle.printed(whole), "builder"
    try:
        yield Program(ast.unparse(parsed(text).tree) + "\n", data), ""
    except (NotPython, RecursionError):
        pass
    remark = f"the module stays as its {kind} makes it: written anew, it does not fail in this way"
    yield whole, remark


def _oracle(case: Case, pool: Pool, goal: Goal, reference: Reference) -> Oracle | None:
    """An oracle for the reference, if the program is as wrong against that."""
    own = goal.signature
    if own.failure == "mismatch":
        seen = Oracle(case, pool, goal).observe(reference.program)
        found = None if seen is None else signature(seen)
        if not isinstance(found, Signature):
            return None
        if (found.stage, found.at, found.failure) != (own.stage, own.at, own.failure):
            return None
        own = found  # what is expected and came is told in other words
    return Oracle(case, pool, Goal(own, goal.seconds, reference.controls, reference.kept))


def _why_not(case: Case, found: Signature) -> str:
    if found.failure == "mismatch":
        return (
            f"{case.id} gives wrong results, and there is nothing to hold them against while it "
            "shrinks. Add a contrast on the same module that is right, such as one with "
            "`build: {disabled_pass: [...]}` and `expect: ok`, or list the pass that is wrong "
            "under `passes:`"
        )
    return f"{case.id} does not fail in the same way twice ({found}): see `tvm-repro run`"
