"""The same cases twice: the results files differ in times and output, and in nothing else."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from runs import ROOT

from harness import campaign
from harness.case import KINDS, Case, discover, kinds
from harness.report.jsonl import ResultsFile, steady
from harness.run.pool import Pool

EACH = 1  # case of every kind
LEFT_OUT = {
    # As long as all the others together: until a time limit has run out, or memory is full.
    "script/shared-expression-walked-as-tree",
    "tirx/unroll-loop-huge-extent",
    # Overflows its stack wherever that happens to be full: the signature tells in what function.
    "runtime/vm-deep-recursion",
}


def some_cases(seed: int) -> list[Case]:
    """A few cases of every kind: whoever runs this often enough has seen them all."""
    chance = random.Random(seed)
    cases = [campaign.read_case(path) for path in discover([ROOT / "repros"])]
    chosen: dict[str, Case] = {}
    for kind in KINDS:
        group = [case for case in cases if kind in kinds(case) and case.id not in LEFT_OUT]
        chosen |= {case.id: case for case in chance.sample(group, min(EACH, len(group)))}
    return list(chosen.values())


def results(cases: list[Case], jobs: int, folder: Path) -> dict[str, Any]:
    """What is steady of a results file, by case; the header under "". Temporary files go beside."""
    folder.mkdir(parents=True)
    file = folder / "results.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        with Pool(jobs) as pool, ResultsFile(file, pool.info, len(cases)) as lines:
            for report in campaign.run_cases(cases, campaign.Options(jobs=jobs), pool):
                lines.add(report.case, report.judgement, report.seconds)
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {record.get("case", ""): steady(record) for record in records}


def test_two_runs_say_the_same(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    cases = some_cases(seed)
    one = results(cases, 2, tmp_path / "one")
    other = results(cases[::-1], 1, tmp_path / "another" / "one")
    assert one.keys() == other.keys() == {"", *(case.id for case in cases)}
    for case, line in one.items():
        assert line == other[case], f"{case} (seed {seed})"
