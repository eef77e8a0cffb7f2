"""The case that a report makes, and what is missing for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from harness import compat
from harness.triage.new.beside import Beside
from harness.triage.new.checks import checked, stand_ins
from harness.triage.new.failure import Failure, reported_failure
from harness.triage.new.forms import call_argument
from harness.triage.new.modules import as_module
from harness.triage.new.reading import Read, read_scripts
from harness.triage.new.report import Report
from harness.triage.new.translate import Change, translated
from harness.triage.new.values import Call, Effect, Module, Step, Text, Unbound, Unknown

_IN_PROSE = re.compile(r"\b(?:tvm\.)?((?:relax|tirx?|s_tir)\.transform\.[A-Z]\w+)")
_ORDER: Final = ("load", "pass", "well_formed", "build", "vm", "run")
_ILL_FORMED = re.compile(r"well[- ]formed|is not defined|out of (?:its )?scope", re.IGNORECASE)
_NOTHING = "# TODO the module: the report does not have one that can be read\n"


@dataclass(slots=True)
class Draft:
    """A case as plain data, and what has to be said of it.

    Attributes
    ----------
    keys : dict
    remarks : dict
        From a key to lines for the file, in front of that key.
    beside : str
        The text of the Python file beside the case; "" when it needs none.
    missing : list of (int, str)
        What is lacking before it can run: a line of the report, and what.
    changes : sequence of Change
        What was put in the names of today.
    failure : Failure or None
        As it was reported.
    """

    keys: dict[str, Any] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    beside: str = ""
    missing: list[tuple[int, str]] = field(default_factory=list)
    changes: Sequence[Change] = ()
    failure: Failure | None = None

    def todo(self, key: str, line: int, text: str) -> None:
        where = f"line {line}: " if line else ""
        self.remarks.setdefault(key, []).append(f"TODO {where}{text}")


def drafted(report: Report, stem: str, chosen: int | None = None) -> Draft:
    """Make a case of a report.

    Parameters
    ----------
    report : Report
    stem : str
        Of the Python file beside the case, without suffix.
    chosen : int, optional
        Which script, counted from 1; else the one that has TVM do most.

    Raises
    ------
    LookupError
        When there are not so many.
    """
    draft = Draft(failure=reported_failure(report))
    draft.keys["title"] = report.title or "TODO"
    if not report.title:
        draft.todo("title", 0, "what goes wrong, in one line")
    draft.keys["issue"] = report.issue or "unreported"
    reads = read_scripts(report)
    read = _choose(draft, reads, chosen)
    if read is None:
        draft.keys["module"] = _NOTHING
        draft.missing += [] if report.broken else [(0, "a script: the report has no Python in it")]
    else:
        _Writer(draft, read, stem).write(report)
    if read is None or draft.missing:  # else it does not matter
        for bad in report.broken:
            draft.missing.append((bad.error_line, f"a script that is no Python: {bad.reason}"))
    draft.keys["expect"] = _expectation(draft, read)
    return draft


def _choose(draft: Draft, reads: Sequence[Read], chosen: int | None) -> Read | None:
    if chosen is not None and chosen > len(reads):
        raise LookupError(f"the report has {len(reads)}, not counting what goes on from another")
    if not reads:
        return None
    best = reads[chosen - 1] if chosen else max(reads, key=lambda one: (_worth(one), one.told > 0))
    for number, one in enumerate(reads, 1):
        if one is not best and one.course.effects:
            text = f"another script is left out: `--script {number}` takes that one"
            draft.todo("module", one.lines[0], text)
    draft.changes = best.changes
    draft.missing += best.course.gone.values()
    return best


def _worth(read: Read) -> int:
    return min(read.told, 3) + bool(read.course.effects)


class _Writer:
    """Puts what one script does into a draft."""

    def __init__(self, draft: Draft, read: Read, stem: str) -> None:
        self.draft = draft
        self.course = read.course
        self.stem = stem
        self.beside = Beside(read.course)
        self.calls: dict[Call, int] = {}

    def write(self, report: Report) -> None:
        effect = self.last_effect()
        if effect is None:
            self.nothing()
            return
        module = effect.module
        self.module(module)
        self.passes(module, report)
        self.build(effect)
        for line, text in sorted(self.course.remarks):
            self.draft.todo("run" if "run" in self.draft.keys else "module", line, text)
        if self.beside.functions:
            self.draft.beside = self.beside.text()
            requires = sorted(self.beside.requires)
            self.draft.keys |= {"requires": requires} if requires else {}
            self.draft.missing += [
                (line, f"{what}, which is needed for the module or a pass")
                if "which" not in what
                else (line, what)
                for line, what in self.beside.lacking
            ]

    def last_effect(self) -> Effect | None:
        """What the case goes up to: on the module that went through most, the last of all."""
        self.unused_schedule()
        effects = self.course.effects
        if not effects:
            return None
        failing = failing_effect(self.draft.failure, self.course.source, effects)
        if failing is not None:
            following = [one for one in effects if _goes_on(failing.module, one.module)]
        else:
            following = list(effects)
        most = max(len(one.module.steps) for one in following)
        used = any(one.stage != "load" for one in following)
        return [
            one
            for one in following
            if len(one.module.steps) == most and (one.stage != "load" or not used)
        ][-1]

    def unused_schedule(self) -> None:
        """A schedule that no module is taken from: what is done with it may be the bug."""
        if not self.course.schedules:
            return
        unknown, module = self.course.schedules[-1]
        if any(len(one.module.steps) > len(module.steps) for one in self.course.effects):
            return
        source = f"({_source(unknown)}).mod"
        name = next(
            (
                variable[0]
                for entry in self.course.log
                for variable, value in entry.writes.items()
                if value is unknown
            ),
            source,
        )

        node = ast.parse(f"{name}.mod" if name != source else source, mode="eval").body
        for one in ast.walk(node):
            ast.copy_location(one, unknown.node)
        last = Unknown(node, len(self.course.log), unknown.scope, unknown.line)
        after = as_module(self.course, last)
        if after is not None:
            self.course.effects.append(Effect("pass", unknown.line, after))

    def nothing(self) -> None:
        self.draft.keys["module"] = _NOTHING
        for name, line in sorted(self.course.unbound.items(), key=lambda one: one[1]):
            self.draft.missing.append((line, f"`{name}`, which the report does not define"))
        if not self.draft.missing:
            self.draft.missing.append((0, "a module: the scripts make none that could be found"))

    def module(self, module: Module) -> None:
        origin: Text | Unknown = module.origin
        if isinstance(origin, Text):
            needs = [one for one in origin.lacking if isinstance(one, Unknown)]
            if needs and origin.name:
                node = ast.copy_location(ast.Name(origin.name, ast.Load()), needs[0].node)
                origin = Unknown(node, needs[0].at + 1, needs[0].scope, origin.line)
        if isinstance(origin, Unknown):
            function = self.beside.builder(origin)
            self.draft.keys["module"] = {"python": f"{self.stem}.py:{function}"}
            return
        for one in origin.lacking:
            assert isinstance(one, Unbound)
            text = f"`{one.name}`, which the report does not define"
            self.draft.missing.append((one.line, text))
        text, changes = translated(origin.text)
        self.draft.changes = (*self.draft.changes, *changes)
        self.draft.keys["module"] = text

    def passes(self, module: Module, report: Report) -> None:
        steps = list(module.steps)
        after = []
        while steps and isinstance(steps[-1].form, dict) and "roundtrip" in steps[-1].form:
            after.append(steps.pop().form)
        forms = [self.step(one) for one in steps]
        if not forms and all(one.stage == "load" for one in self.course.effects):
            found = [name for block in report.prose for name in _IN_PROSE.findall(block.text)]
            forms = list(dict.fromkeys(compat.todays_name(f"tvm.{one}")[4:] for one in found))
            if forms:
                self.draft.todo("passes", 0, "the script applies none: these are named in the text")
        if forms:
            self.draft.keys["passes"] = forms
        if after:
            self.draft.keys["after"] = list(reversed(after))

    def step(self, step: Step) -> Any:
        if step.beside is None and not (isinstance(step.form, dict) and "roundtrip" in step.form):
            return step.form
        if step.beside is None:
            self.draft.todo("passes", step.line, "a round trip between passes is left out")
            return "transform.Sequential"
        return {"python": f"{self.stem}.py:{self.beside.step(step)}"}

    def build(self, effect: Effect) -> None:
        made = [one for one in self.course.effects if one.module is effect.module and one.built]
        if not made:
            context = dict(self.course.context)
            self.draft.keys["build"] = context or False
            return
        built = made[-1].built
        assert built is not None
        if built.keys:
            self.draft.keys["build"] = dict(built.keys)
        calls = [one.call for one in made if one.built is built and one.call]
        self.run([call for call in calls if call is not None])

    def run(self, calls: Sequence[Call]) -> None:
        origin = calls[0].machine.built.module.origin if calls else None
        text = origin if isinstance(origin, Text) else None
        said: list[dict[str, Any]] = []
        for call in calls:
            function = call.function or self.only_function(text)
            call = Call(call.machine, function, call.args, call.line) if not call.function else call
            args = [call_argument(one, self.calls) for one in call.args]
            known = [one[0] for one in args if one is not None]
            if len(known) < len(args):
                instead = stand_ins(text, function)
                if instead is None or len(instead) != len(args):
                    what = f"argument {args.index(None) + 1} of the call cannot be read"
                    self.draft.missing.append((call.line, f"{what}: write it under `run:`"))
                    return
                why = "the inputs cannot be read: random ones stand for them"
                self.draft.todo("run", call.line, why)
                known = instead
            keys, lost = checked(call, self.course.checks, text)
            for one in lost:
                self.draft.todo("run", call.line, one)
            entry: dict[str, Any] = {"call": function}
            entry |= {"args": known} if known else {}
            self.calls[call] = len(said)
            said.append(entry | keys)
        if said:
            self.draft.keys["run"] = said
            checks = any({"equals", "same_as"} & set(one) for one in said)
            if self.draft.failure is not None and self.draft.failure.kind == "mismatch":
                if not checks:
                    self.draft.todo("run", 0, "`equals:`, what the right value is")

    @staticmethod
    def only_function(text: Text | None) -> str:
        """What a module that is called itself calls."""
        named = [] if text is None else re.findall(r"^\s*def (\w+)\(", text.text, re.MULTILINE)
        return "main" if "main" in named or not named else str(named[0])


def _source(unknown: Unknown) -> str:

    return ast.unparse(unknown.node)


def _goes_on(module: Module, other: Module) -> bool:
    same = module.origin is other.origin or module.origin == other.origin
    return same and other.steps[: len(module.steps)] == module.steps


def failing_effect(
    failure: Failure | None, source: str, effects: Sequence[Effect]
) -> Effect | None:
    """What a traceback says was under way, by the lines of the script that it shows."""
    lines = source.split("\n")
    for place in reversed(failure.places if failure else ()):
        wanted = _bare(translated(place)[0])
        met = [
            effect
            for effect in effects
            if 0 < effect.line <= len(lines) and wanted and wanted == _bare(lines[effect.line - 1])
        ]
        if met:  # of several passes on a line, nobody knows which: the last
            return met[-1]
    return None


def _bare(line: str) -> str:
    return "".join(line.partition("#")[0].split())


def _expectation(draft: Draft, read: Read | None) -> Any:
    """`expect:` as reported, or ok for now."""
    failure = draft.failure
    if failure is None:
        draft.todo("expect", 0, "the report does not say what goes wrong: `--run` sees")
        return "ok"
    if read is None or draft.keys.get("module") == _NOTHING:
        draft.todo("expect", failure.line, f"reported is {failure}")
        return "ok"
    stage, at, guessed = _stage(draft, failure, read)
    pattern = failure.pattern()
    if at:
        pattern = {pattern: True} if isinstance(pattern, str) else dict(pattern)
        pattern["at"] = at
    lines = draft.remarks.setdefault("expect", [])
    lines.append(f"as reported (line {failure.line}), not observed")
    if guessed:
        lines.append(f"TODO the stage, {stage}, is a guess")
    if failure.kind == "hang":
        draft.keys["limits"] = {"seconds": 20}
    return {"stock": {stage: pattern}}


def _stage(draft: Draft, failure: Failure, read: Read) -> tuple[str, str, bool]:
    """Where a failure is met, the pass, and whether that is a guess."""
    effects = read.course.effects
    if failure.kind == "mismatch":
        return (
            ("run", "", "run" not in draft.keys) if "run" in draft.keys else ("pass", "after", True)
        )
    place = failing_effect(failure, read.course.source, effects)
    guessed = place is None
    if place is None and _in_python(failure, read, draft.keys):
        return "pass", _name(draft.keys["passes"][-1]), False
    stage = _last_stage(draft.keys, effects) if place is None else place.stage
    if failure.kind == "error" and guessed:
        if failure.detail == "ScheduleError":
            stage = "pass"
        elif failure.detail in ("DiagnosticError", "ParserError", "SyntaxError"):
            stage = "load"
    if stage == "load" and failure.kind == "error" and _ILL_FORMED.search(failure.message):
        return "input", "", guessed
    passes = draft.keys.get("passes", [])
    if stage == "well_formed":
        return ("well_formed", "", guessed) if passes else ("input", "", guessed)
    if stage == "pass" and passes:
        count = len(place.module.steps) if place is not None else len(passes)
        return stage, _name(passes[min(count, len(passes)) - 1]), guessed
    return stage, "", guessed


def _in_python(failure: Failure, read: Read, keys: Mapping[str, Any]) -> bool:
    """Whether a traceback leads to a statement that became part of the last pass, in Python."""
    passes = keys.get("passes", [])
    lines = {_bare(line) for line in read.course.source.split("\n")}
    met = any(_bare(translated(place)[0]) in lines for place in failure.places)
    return bool(passes) and met and isinstance(passes[-1], dict) and "python" in passes[-1]


def _last_stage(keys: Mapping[str, Any], effects: Sequence[Effect]) -> str:
    if "run" in keys:
        return "run"
    if keys.get("build") is not False:
        stages = [one.stage for one in effects if one.stage in ("build", "vm")]
        return max(stages, key=_ORDER.index) if stages else "build"
    return "pass" if keys.get("passes") else "load"


def _name(form: Any) -> str:
    if isinstance(form, dict):
        name = next(iter(form))
        return str(form["python"]).rpartition(":")[2] if name == "python" else str(name)
    return str(form)
