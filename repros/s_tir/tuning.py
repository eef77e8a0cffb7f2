"""Tuning without the tuner: traces that are replayed, and databases of them, for cases about both.

Each function is a pass. `steps` names one of the schedules in STEPS, which take the place of what a
tuner would find.
"""

import tempfile

import tvm
from tvm import relax
from tvm.s_tir import Schedule
from tvm.s_tir.meta_schedule.database import JSONDatabase, MemoryDatabase, TuningRecord
from tvm.s_tir.meta_schedule.relax_integration import extract_tasks
from tvm.s_tir.schedule import Trace
from tvm.target import Target


def _first_loop(schedule, name):
    return schedule.get_loops(schedule.get_sblock(name))[0]


def _read_for_one_consumer(schedule):
    block, other = schedule.get_sblock("double"), schedule.get_sblock("triple")
    schedule.cache_read(block, 0, "global", consumer_blocks=[other])


def _read_for_all_consumers(schedule):
    schedule.cache_read(schedule.get_sblock("double"), 0, "global")


def _read_for_a_used_consumer(schedule):
    block = schedule.get_sblock("double")
    schedule.cache_read(block, 0, "global", consumer_blocks=[block])


def _blockize_both(schedule):
    schedule.blockize([schedule.get_sblock("double"), schedule.get_sblock("triple")])


def _decompose_padding(schedule):
    schedule.decompose_padding(schedule.get_sblock("pad"), _first_loop(schedule, "pad"))


def _decompose_reduction(schedule):
    schedule.decompose_reduction(schedule.get_sblock("total"), _first_loop(schedule, "total"))


def _rfactor(schedule):
    schedule.rfactor(schedule.get_loops(schedule.get_sblock("total"))[1], 0)


def _cache_read_total(schedule):
    schedule.cache_read(schedule.get_sblock("total"), 0, "global")


def _annotate(value):
    def steps(schedule):
        schedule.annotate(schedule.get_sblock("double"), "hint", value)

    return steps


STEPS = {
    "bind": lambda schedule: schedule.bind(_first_loop(schedule, "double"), "threadIdx.x"),
    "split": lambda schedule: schedule.split(_first_loop(schedule, "double"), [None, 4]),
    "parallel": lambda schedule: schedule.parallel(_first_loop(schedule, "double")),
    "split_total": lambda schedule: schedule.split(_first_loop(schedule, "total"), [None, 2]),
    "read_for_one_consumer": _read_for_one_consumer,
    "read_for_all_consumers": _read_for_all_consumers,
    "read_for_a_used_consumer": _read_for_a_used_consumer,
    "blockize_both": _blockize_both,
    "decompose_padding": _decompose_padding,
    "decompose_reduction": _decompose_reduction,
    "rfactor": _rfactor,
    "cache_read_total": _cache_read_total,
    "annotate_word": _annotate("wide"),
    "annotate_accent": _annotate("étroit"),
    "annotate_infinity": _annotate(float("inf")),
    "annotate_true": _annotate(True),
    "annotate_two": _annotate(2.0),
    "annotate_half": _annotate(2.5),
    "annotate_list": _annotate([1, 2]),
    "annotate_dict": _annotate({"width": 4}),
    "annotate_dict_of_words": _annotate({"shape": "wide"}),
}


def _trace(mod, steps):
    schedule = Schedule(mod)
    STEPS[steps](schedule)
    return schedule.trace


def schedule(mod: tvm.IRModule, steps: str) -> tvm.IRModule:
    """Apply the steps."""
    result = Schedule(mod)
    STEPS[steps](result)
    return result.mod


def replay(mod: tvm.IRModule, steps: str) -> tvm.IRModule:
    """Apply the trace of the steps."""
    result = Schedule(mod)
    _trace(mod, steps).apply_to_schedule(result, remove_postproc=False)
    return result.mod


def replay_simplified(mod: tvm.IRModule, steps: str) -> tvm.IRModule:
    """Apply the trace of the steps, simplified."""
    result = Schedule(mod)
    _trace(mod, steps).simplified(remove_postproc=False).apply_to_schedule(result, False)
    return result.mod


def replay_json(mod: tvm.IRModule, steps: str) -> tvm.IRModule:
    """Apply the trace of the steps from its JSON form."""
    result = Schedule(mod)
    Trace.apply_json_to_schedule(_trace(mod, steps).as_json(), result)
    return result.mod


def replay_python(mod: tvm.IRModule, steps: str) -> tvm.IRModule:
    """Apply the trace of the steps from its Python form."""
    result = Schedule(mod)
    exec("\n".join(_trace(mod, steps).as_python()), {"sch": result})
    return result.mod


def replay_file(mod: tvm.IRModule, steps: str) -> tvm.IRModule:
    """Write the trace of the steps to a database of two files, read them, and apply the record."""
    with tempfile.TemporaryDirectory() as folder:
        files = folder + "/workloads.json", folder + "/records.json"
        database = JSONDatabase(*files)
        workload = database.commit_workload(mod)
        database.commit_tuning_record(TuningRecord(_trace(mod, steps), workload, [1.0]))
        (record,) = JSONDatabase(*files).get_all_tuning_records()
    result = Schedule(mod)
    record.trace.apply_to_schedule(result, remove_postproc=False)
    return result.mod


def apply_database(
    mod: tvm.IRModule,
    records: list,
    workload: str = "kernel",
    equality: str = "structural",
) -> tvm.IRModule:
    """Apply a database with records of one PrimFunc, the fastest first, each `{steps, target}`."""
    normalize = tvm.get_global_func("tvm.s_tir.meta_schedule.normalize_mod")
    database = MemoryDatabase(module_equality=equality)
    if records:
        tuned = database.commit_workload(normalize(mod[workload]))
        for seconds, record in enumerate(records, start=1):
            trace = _trace(tuned.mod, record["steps"])
            target = Target(record["target"])
            database.commit_tuning_record(TuningRecord(trace, tuned, [float(seconds)], target))
    with Target("llvm"), database:
        return relax.transform.MetaScheduleApplyDatabase()(mod)


def tasks(mod: tvm.IRModule) -> tvm.IRModule:
    """The tuning tasks of a module, as a module with one function for each."""
    found = extract_tasks(mod, "llvm")
    return tvm.IRModule({task.task_name: task.dispatched[0]["main"] for task in found})
