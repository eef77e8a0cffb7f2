"""Make ``<release>.jsonl``: what the TVM of this interpreter says of every failing case.

Usage: ``python tests/verdict/golden/collect.py``, with the interpreter of each release in turn.
All of `repros/` is run twice, stock arms only: by servers of their own, with another folder for
temporary files, the second time in the contrary order and one at a time. A failure that reads the
same both times is one line that says ``times: 2``; one that is not as expected is left out. Long
texts are cut, as far as that leaves the signature what it was; the folders of this machine get
names that any machine could have.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent), str(ROOT)]

from golden_records import as_record, as_trace, bounded  # noqa: E402

from harness import campaign  # noqa: E402
from harness.case import Case, discover  # noqa: E402
from harness.compat import installed  # noqa: E402
from harness.run.pool import Pool  # noqa: E402
from harness.run.trace import ArmTrace  # noqa: E402
from harness.verdict.judge import Judgement  # noqa: E402
from harness.verdict.outcome import stages  # noqa: E402
from harness.verdict.signature import signature  # noqa: E402

ROOMS = (1_000, 4_000, 20_000, 200_000)  # characters: the first that keeps the signature
PATHS = {str(ROOT): "/checkout", sys.prefix: "/venv", sys.base_prefix: "/usr"}


def observe(cases: Sequence[Case], jobs: int) -> Iterator[tuple[str, ArmTrace]]:
    """The failed runs of the stock arms of `cases`, in a temporary folder of their own."""
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        tempfile.tempdir = folder
        with Pool(jobs) as pool:
            for report in campaign.run_cases(cases, campaign.Options(("stock",), jobs), pool):
                for id, judgement in judgements(report):
                    for arm in judgement.arms.values():
                        if arm.as_expected:
                            yield from ((id, run.trace) for run in arm.runs if run.failed)
                        else:
                            print(f"left out: {id}: {judgement.reason}", file=sys.stderr)
        tempfile.tempdir = None


def judgements(report: campaign.CaseReport) -> Iterator[tuple[str, Judgement]]:
    """Of a case, and of its contrasts."""
    yield report.case.id, report.judgement
    for contrast in report.case.contrasts:
        yield contrast.case.id, report.judgement.contrasts[contrast.title]


def line(id: str, trace: ArmTrace) -> str:
    """The record of a trace, no longer than its signature asks for."""
    whole = signature(stages(trace))
    for room in ROOMS:
        text = json.dumps({"case": id, **as_record(bounded(trace, room))}, ensure_ascii=True)
        for path, name in PATHS.items():
            text = text.replace(path, name)
        if signature(stages(as_trace(json.loads(text)))) == whole:
            return text
    raise SystemExit(f"{id}: its signature is lost in the record")


def main() -> None:
    release = installed("apache-tvm")
    cases = [campaign.read_case(path) for path in discover([ROOT / "repros"])]
    found = [*observe(cases, 2), *observe(cases[::-1], 1)]
    lines = Counter(line(id, trace) for id, trace in found)
    text = "".join(f'{{"times": {times}, {one[1:]}\n' for one, times in sorted(lines.items()))
    (HERE / f"{release}.jsonl").write_text(text, encoding="utf-8")
    print(f"{release}: {len(found)} failures, {len(lines)} different, {len(text)} bytes")


if __name__ == "__main__":
    main()
