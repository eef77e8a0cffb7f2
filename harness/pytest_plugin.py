"""``pytest repros/``: cases as test items, one an arm and contrast."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import campaign
from harness.case import KINDS, Case, CaseFileError, labels
from harness.compat import installed, pair_state
from harness.report import ir
from harness.report.console import as_text
from harness.report.ladder import ladder
from harness.report.summary import counts
from harness.run.host import ServerError
from harness.run.pool import Pool
from harness.run.trace import ArmTrace
from harness.triage import look
from harness.verdict.judge import Judgement, infra
from harness.verdict.word import Verdict

FOLDER = "repros"
_VERDICT = "tvm_repro_verdict"  # name of the user property that carries it to the controller
_bench = pytest.StashKey["Bench"]()
_labels = pytest.StashKey[set[str]]()  # those that are known as markers


class Bench:
    """What the items of a session share: the pool, started when first needed, and the traces."""

    def __init__(self) -> None:
        self._pool: Pool | None = None
        self._traces: campaign.Traces = defaultdict(lambda: defaultdict(list))

    @property
    def pool(self) -> Pool:
        """Raises ServerError when there is no TVM."""
        if self._pool is None:
            pool = Pool()
            pool.__enter__()
            self._pool = pool
        return self._pool

    def traces(self, case: Case, arms: tuple[str, ...]) -> dict[str, list[ArmTrace]]:
        """What was seen of a variant, after running those of `arms` that have not been run."""
        seen = self._traces[f"{case.path}#{case.id}"]
        jobs = campaign.jobs_of(case, [arm for arm in arms if arm not in seen])
        for job, trace in self.pool.run([jobs] if jobs else []):
            seen[job.arm].append(trace)
        return seen

    def judge(self, case: Case, arms: tuple[str, ...]) -> Judgement:
        """Judge a variant by `arms`, and by those that have been run already."""
        traces = self.traces(case, arms)
        return campaign.judge_variant(case, traces, self.pool.info, campaign.Options())

    def close(self) -> None:
        if self._pool is not None:
            self._pool.__exit__()
            self._pool = None


class NotAsExpected(Exception):
    """An arm came out otherwise than the case says; the text is for the person."""


class CaseFile(pytest.File):
    """A case file; a broken one is a collection error that says what is wrong with it."""

    def collect(self) -> Iterator[pytest.Item]:
        case = campaign.read_case(self.path)
        whole = labels(case)
        for variant, prefix in _named_variants(case):
            for arm in variant.arms:
                item = CaseItem.from_parent(self, name=f"{prefix}{arm}", case=variant, arm=arm)
                for label in dict.fromkeys((*whole, *variant.tags)):
                    if label not in self.config.stash[_labels]:
                        self.config.stash[_labels].add(label)
                        self.config.addinivalue_line("markers", f"{label}: a label of cases")
                    item.add_marker(label)
                yield item

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, CaseFileError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)  # type: ignore[call-arg]


def _named_variants(case: Case) -> Iterator[tuple[Case, str]]:
    yield case, ""
    for contrast in case.contrasts:
        yield contrast.case, f"{contrast.title.replace('::', ':')} - "


class CaseItem(pytest.Item):
    """One arm of a case or of a contrast."""

    def __init__(self, *, case: Case, arm: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case
        self.arm = arm

    def runtest(self) -> None:
        bench = self.config.stash[_bench]
        try:
            reason = campaign.reason_to_skip(self.case, bench.pool.info)
            if reason:
                self._record(Verdict.SKIPPED)
                pytest.skip(reason)
            judgement = bench.judge(self.case, (self.arm,))
            if self._differs(judgement):
                # Both arms tell more than one: a fix that does nothing fails just as stock does.
                judgement = bench.judge(self.case, self.case.arms)
        except ServerError as error:
            judgement = infra(f"cannot run cases: {error}; see `tvm-repro doctor`")
        self._record(judgement.verdict)
        if self._differs(judgement):
            raise NotAsExpected(self._explain(judgement, bench))

    def _differs(self, judgement: Judgement) -> bool:
        """Whether this item is to blame: its own arm, or else the fix for the fixed one."""
        if judgement.verdict.passes:
            return False
        own = judgement.arms.get(self.arm)
        if own is None or not own.as_expected:
            return True
        return self.arm == "fixed" and all(arm.as_expected for arm in judgement.arms.values())

    def _record(self, verdict: Verdict) -> None:
        self.user_properties.append(
            (_VERDICT, f"{self.nodeid.rpartition('::')[0]} {verdict.value}")
        )

    def _explain(self, judgement: Judgement, bench: Bench) -> str:
        width = self.config.get_terminal_writer().fullwidth
        parts = [as_text(ladder(self.case, judgement), width)]
        if judgement.arms:
            index = look.pass_of_interest(self.case, judgement)
            looks = look.look(self.case, (self.arm,), index, bench.pool)
            for one in looks.values():
                where = "after" if one.after else "before"
                parts.append(f"IR {where} {one.at}, arm {one.arm}:\n")
                text = ir.around(one.after or one.before, look.complaint(judgement, one.arm))
                parts.append(as_text(text, max(width, 160)))
        return "".join(parts).rstrip()

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, NotAsExpected):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.case.id} - {self.arm}"


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_bench] = Bench()
    config.stash[_labels] = set(KINDS)
    for kind, meaning in KINDS.items():
        config.addinivalue_line("markers", f"{kind}: cases: {meaning}")


def pytest_report_header() -> str:
    """The pair that the cases will run on, going by what is installed."""
    names = ("apache-tvm", "apache-tvm-ffi")
    tvm, ffi = (installed(name) or "none" for name in names)
    return f"TVM {tvm} with ffi {ffi}: {pair_state(tvm, ffi)}"


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[_bench].close()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Case files under ``repros/`` of the project, and no others."""
    root = parent.config.rootpath / FOLDER
    if file_path.suffix == ".yaml" and file_path.is_relative_to(root):
        file: pytest.Collector = CaseFile.from_parent(parent, path=file_path)
        return file
    return None


def _verdicts(reports: list[Any]) -> dict[str, Verdict]:
    """The worst verdict of each case file, from the properties of its items' reports."""
    worst: dict[str, Verdict] = {}
    for report in reports:
        for name, value in getattr(report, "user_properties", ()):
            if name == _VERDICT:
                case, _, word = value.rpartition(" ")
                verdict = Verdict(word)
                worst[case] = max(worst.get(case, verdict), verdict, key=_weight)
    return worst


def _weight(verdict: Verdict) -> tuple[bool, int]:
    """What counts of the items of one case; a skipped contrast does not hide what the rest say."""
    return verdict is not Verdict.SKIPPED, verdict.severity


def _all_reports(terminal: Any) -> list[Any]:
    kinds = ("passed", "failed", "skipped", "error")
    return [report for kind in kinds for report in terminal.stats.get(kind, ())]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Count the verdicts, a case each."""
    verdicts = _verdicts(_all_reports(terminalreporter))
    if verdicts:
        terminalreporter.write_sep("-", "cases")
        terminalreporter.write_line(counts(verdicts.values()).plain)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A run in which the machinery failed says nothing: exit code 3."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal and Verdict.INFRA in _verdicts(_all_reports(terminal)).values():
        session.exitstatus = 3
