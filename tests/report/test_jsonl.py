"""The results file, key by key: outside scripts rely on it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from handmade import CLEAN, PASS, TIME, arm, case, cut_short, died, expects, fixed, raised

from harness.case import ErrorPattern
from harness.report.jsonl import ResultsFile, case_line, header, steady
from harness.run.trace import End, Stage, Step, Stopped, TvmInfo
from harness.verdict.judge import judge, skipped, with_contrasts

INFO = TvmInfo("0.27.0.post1", "0.1.14.post1", "22", "3.11.7", "Linux")
ILL = ErrorPattern(type="ValueError", match="not defined")
SEED = case(expects(well_formed=ILL), fix="allocate_workspace")
ill = raised(Stage.WELL_FORMED, "ValueError", "GlobalVar inner is not defined", PASS)
STAGE_KEYS = {"stage", "at", "outcome", "error", "message", "signal", "seconds"}


def line_of(*stock: Any, **keys: Any) -> Any:
    traces = {"stock": [arm(*stock, **keys)], "fixed": [fixed()]}
    return json.loads(json.dumps(case_line(SEED, judge(SEED, SEED.expect[0], traces), 1.5)))


def stage(line: Any, name: str, of: str = "stock") -> Any:
    return next(one for one in line["arms"][of]["stages"] if one["stage"] == name)


def test_the_keys_of_the_contract() -> None:
    line = line_of(ill)
    assert line["case"] == "relax/some-case"
    assert line["verdict"] == "reproduces"
    assert line["seconds"] == 1.5
    assert set(line["arms"]) == {"stock", "fixed"}
    for arm_of in line["arms"].values():
        assert [one["stage"] for one in arm_of["stages"]] == [stage.value for stage in Stage]
        assert all(set(one) >= STAGE_KEYS for one in arm_of["stages"])
    assert stage(line, "well_formed") == {
        "stage": "well_formed",
        "at": PASS,
        "outcome": "error",
        "error": "ValueError",
        "message": "GlobalVar inner is not defined",
        "signal": None,
        "seconds": 0.0,
    }
    assert line["arms"]["fixed"]["signature"] is None
    signature = line["arms"]["stock"]["signature"]
    assert signature == f"well_formed {PASS} | ValueError | GlobalVar <name> is not defined"


def test_the_keys_beyond_it() -> None:
    line = line_of(ill)
    assert line["reason"]
    assert line["arms"]["stock"]["expected"] == {
        "well_formed": "{error: ValueError, match: 'not defined'}"
    }
    assert line["arms"]["fixed"]["fix"]["applied"] is True
    assert line["arms"]["stock"]["runs"] == 1
    assert "stderr" not in line["arms"]["fixed"]


@pytest.mark.parametrize(
    ("end", "outcome", "signal"),
    [
        (died("SIGSEGV"), "crash", "SIGSEGV"),
        (died("SIGKILL"), "oom", "SIGKILL"),
        (TIME, "hang", None),
        (End(Stopped.ITSELF, code=0), "exit", None),
    ],
)
def test_deaths(end: End, outcome: str, signal: str | None) -> None:
    line = line_of(cut_short(Stage.BUILD), end=end, stderr="x" * 100_000)
    assert stage(line, "build")["outcome"] == outcome
    assert stage(line, "build")["signal"] == signal
    assert stage(line, "vm")["outcome"] == "not reached"
    assert len(line["arms"]["stock"]["stderr"]) == 4000


def test_an_exit_tells_its_code() -> None:
    line = line_of(cut_short(Stage.RUN), end=End(Stopped.ITSELF, code=7))
    assert stage(line, "run")["code"] == 7


def test_messages_are_bounded() -> None:
    line = line_of(raised(Stage.BUILD, "InternalError", "x" * 1_000_000))
    assert len(json.dumps(line)) < 30_000


def test_contrasts() -> None:
    main = judge(SEED, SEED.expect[0], {"stock": [arm(ill)]})
    line = case_line(SEED, with_contrasts(main, {"other": skipped("no onnx")}), 0.0)
    assert line["contrasts"]["other"]["verdict"] == "skipped"
    assert "contrasts" not in case_line(SEED, main, 0.0)


def test_each_line_is_there_as_soon_as_its_case_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("an older run\n")
    judgement = judge(SEED, SEED.expect[0], {"stock": [arm(ill)]})
    with ResultsFile(path, INFO, 3) as results:
        for count in range(1, 4):
            assert len(path.read_text().splitlines()) == count
            results.add(SEED, judgement, 0.1)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
    head = lines[0]
    run = ["started", "planned"]
    assert list(head) == ["schema", "tvm", "tvm_ffi", "llvm", "python", "platform", *run]
    assert head["planned"] == 3
    assert head["schema"] == 1
    assert head["tvm"] == "0.27.0.post1"
    assert [line["verdict"] for line in lines[1:]] == ["reproduces"] * 3


def test_half_characters_and_odd_lines_stay_one_line(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    odd = raised(Stage.BUILD, "E", "a\nb\u2028c\ud800\x00")
    judgement = judge(SEED, SEED.expect[0], {"stock": [arm(odd)]})
    with ResultsFile(path, INFO, 3) as results:
        results.add(SEED, judgement, 0.1)
    lines = path.read_bytes().split(b"\n")
    assert len(lines) == 3
    assert stage(json.loads(lines[1]), "build")["message"] == "a\nb\u2028c\ud800\x00"


def test_a_place_that_cannot_be_written_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        ResultsFile(tmp_path / "missing" / "out.jsonl", INFO, 1)


def seen_at(address: str, stderr: str, seconds: float) -> Any:
    """The line of a case whose message, output and times are like no other run's."""
    odd = raised(Stage.WELL_FORMED, "ValueError", f"Function 0x{address} is impure", PASS)
    odd = replace(odd, seconds=seconds)
    main = judge(SEED, SEED.expect[0], {"stock": [arm(odd, stderr=stderr)]})
    return case_line(SEED, with_contrasts(main, {"seconds": main}), seconds)


def test_what_is_steady_is_the_same_in_two_runs() -> None:
    one, other = seen_at("7f001f5c0b80", "[17:42:54] a", 1.0), seen_at("55b82ff0", "", 2.5)
    assert one["reason"] != other["reason"]
    assert steady(one) == steady(other)
    assert steady(one)["contrasts"]["seconds"]["verdict"] == "drifted"


@pytest.mark.parametrize(
    "other",
    [
        raised(Stage.WELL_FORMED, "ValueError", "Function 0x1f is pure", PASS),
        raised(Stage.WELL_FORMED, "TypeError", "Function 0x1f is impure", PASS),
        raised(Stage.VM, "ValueError", "Function 0x1f is impure"),
        cut_short(Stage.WELL_FORMED, PASS),
    ],
)
def test_what_is_steady_tells_failures_apart(other: Step) -> None:
    end = TIME if not other.finished else CLEAN
    judgement = judge(SEED, SEED.expect[0], {"stock": [arm(other, end=end)]})
    main = seen_at("1f", "", 0.5)
    del main["contrasts"]
    assert steady(case_line(SEED, judgement, 0.5)) != steady(main)


def test_what_is_steady_of_the_header_is_all_but_the_time() -> None:
    now = header(INFO, datetime.now(timezone.utc), planned=3)
    assert steady(now) == {"schema": 1, **INFO.as_dict(), "planned": 3}
