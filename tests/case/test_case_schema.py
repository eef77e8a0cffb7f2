"""The JSON Schema in the repository is the one the models give, and agrees with the loader."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from casefiles import FULL, GOOD
from test_case_problems import MISTAKES, complete

import harness.case
from harness.case import json_schema

KEPT = Path(harness.case.__file__).with_name("schema.json")


@pytest.fixture(scope="module")
def validator() -> Any:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(json_schema())
    return jsonschema.Draft202012Validator(json_schema())


def test_schema_is_kept() -> None:
    assert json.loads(KEPT.read_text(encoding="utf-8")) == json_schema(), (
        "the models have changed: write `tvm-repro schema` to harness/case/schema.json"
    )


def test_every_key_is_described() -> None:
    schema = json_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == {"title", "module", "expect"}
    assert [key for key, one in schema["properties"].items() if "description" not in one] == []


@pytest.mark.parametrize("text", [GOOD, FULL.read_text(encoding="utf-8")])
def test_good_files_satisfy_it(validator: Any, text: str) -> None:
    validator.validate(yaml.safe_load(re.sub(r"\b1e-3", "1.0e-3", text)))


# What an editor can see: no reference, no inside of a text, nothing YAML itself gets wrong.
SEEN = [
    "unknown", "unknown in limits", "list wanted", "whole number wanted", "number in quotes",
    "mapping wanted", "module as a list", "bare version", "version without operator", "issue",
    "tag name", "fix", "repeat", "seconds", "memory", "scalar argument", "under", "pass",
    "with", "pipeline", "build as a number", "target", "no call", "argument", "dtype",
    "negative dimension", "full without shape", "same_as", "after", "both in after",
    "expect is a word", "stage", "stages and arms", "no stock", "outcome",
    "class of an error", "exit code", "one of one", "names of fields",
    "contrast without title", "contrast without expect", "contrast in a contrast",
]  # fmt: skip


@pytest.mark.parametrize("mistake", SEEN)
def test_mistakes_that_an_editor_sees(validator: Any, mistake: str) -> None:
    text = complete(MISTAKES[mistake][0].replace("@@", "") + "\n")
    assert not validator.is_valid(yaml.safe_load(text))
