"""An entry of `expect:` as its author wrote it, and as it would say what was seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.case import STAGES
from harness.case.edit import REMOVED
from harness.case.tree import Path
from harness.verdict.arm import ArmJudgement
from harness.verdict.seen import as_data

ARMS = ("stock", "fixed")
_VERSIONS = ("tvm", "ffi")


def as_seen(entry: Any, arms: Mapping[str, ArmJudgement], has_fix: bool) -> Any:
    """`entry` with what was seen in place of what differs; all else as it was.

    Parameters
    ----------
    entry : str or dict
        Plain data: ``ok``, a mapping from stages, or one from arms.
    arms : mapping of str to ArmJudgement
    has_fix : bool
        Whether the case has two arms.
    """
    if not any(arm.differences for arm in arms.values()):
        return entry
    said = entry if isinstance(entry, dict) else {}
    by_arm = {name: _arm(_of_arm(entry, name), arm) for name, arm in arms.items()}
    versions = {key: said[key] for key in _VERSIONS if key in said}
    if _names_arms(said) or entry == "ok" or (has_fix and by_arm["stock"] != by_arm.get("fixed")):
        new = {**said} if _names_arms(said) else versions
        for name, stages in by_arm.items():
            if arms[name].differences or name in new or not _names_arms(said):
                new[name] = _closed(stages)
                if new[name] == "ok" and "because" in stages:
                    new.setdefault("because", stages["because"])
        if new.get("fixed") == "ok" and "fixed" not in said:
            del new["fixed"]  # it says so without
        return new
    both = by_arm["stock"]
    if _closed(both) == "ok":
        remark = {"because": both["because"]} if "because" in both else {}
        return {**versions, "stock": "ok", **remark} if versions or remark else "ok"
    return {**versions, **both}


def as_entry(entry: Any, tvm: str) -> dict[str, Any]:
    """`entry` as one of a list, that speaks of the releases `tvm`."""
    said = {"stock": "ok"} if entry == "ok" else {**entry}
    said.pop("tvm", None)
    return {"tvm": tvm, **said}


def changes(old: Any, new: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """The smallest edits that lead from `old` to `new`, each as a path and its value."""
    if old == new:
        return
    if not (isinstance(old, dict) and isinstance(new, dict)):
        yield path, new
        return
    for key in new:  # before any is removed: a mapping cannot be empty in between
        if key not in old:
            yield (*path, key), new[key]
        else:
            yield from changes(old[key], new[key], (*path, key))
    for key in old.keys() - new.keys():
        yield (*path, key), REMOVED


def _names_arms(entry: Mapping[str, Any]) -> bool:
    return bool(entry.keys() & set(ARMS))


def _of_arm(entry: Any, name: str) -> dict[str, Any]:
    """The stages that `entry` names for an arm, and its remark."""
    if isinstance(entry, dict) and _names_arms(entry):
        entry = entry.get(name, "ok")
    if not isinstance(entry, dict):
        return {}
    return {key: value for key, value in entry.items() if key not in _VERSIONS}


def _arm(old: Mapping[str, Any], arm: ArmJudgement) -> dict[str, Any]:
    seen = as_data(arm.stages)
    new = dict(old)
    for difference in arm.differences:
        stage = difference.stage.value
        if isinstance(seen, dict) and stage in seen:
            new[stage] = _pattern(old.get(stage), seen[stage])
        else:
            new.pop(stage, None)
    return {key: new[key] for key in (*STAGES, "because") if key in new}


def _pattern(old: Any, seen: Any) -> Any:
    """What was seen, with the author's remark; one more outcome where it is known to vary."""
    if not isinstance(old, dict):
        return seen
    if "one_of" in old:
        return {**old, "one_of": [*old["one_of"], seen]}
    if "because" not in old:
        return seen
    spelt = dict(seen) if isinstance(seen, dict) else {seen: True}
    return {**spelt, "because": old["because"]}


def _closed(stages: Mapping[str, Any]) -> Any:
    """What stands at an arm: a mapping that names no stage cannot."""
    return dict(stages) if stages.keys() & set(STAGES) else "ok"
