"""Benchmarks: the cases of a quality memory that are run together, and what their owner expects.

A suite is a benchmark too; one that names a `benchmark` of its dataset takes its settings over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.datasets.suite import Gate
from judgekit.errors import DatasetError, RetiredSuiteError, SettingsError, UnknownNameError
from judgekit.formats import Benchmark, objects_of
from judgekit.records import memory_objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from judgekit.datasets.suite import Suite
    from judgekit.records import Dataset, JsonObject


def benchmarks_in(objects: Sequence[JsonObject]) -> dict[str, Benchmark]:
    """The benchmarks of a quality memory by their ids."""
    return {
        key: Benchmark.model_validate(fields) for key, fields in objects_of(objects, "benchmark")
    }


def find_benchmark(known: Mapping[str, Benchmark], name: str, path: Path) -> str:
    """The id of the benchmark with an id or a name."""
    if name in known:
        return name
    named = [key for key, benchmark in known.items() if benchmark.name == name]
    if len(named) == 1:
        return named[0]
    if named:
        raise SettingsError(
            f"{len(named)} benchmarks of {path.name} are called {name!r}",
            hint=f"name one by its id: {', '.join(named)}",
        )
    if not known:
        raise SettingsError(
            f"{path} holds no benchmarks, so {name!r} is none of them",
            hint="a benchmark is an object of a quality memory: "
            '{"type": "benchmark", "id": …, "fields": {"name": …, "testCaseIds": […]}}',
        )
    raise UnknownNameError("benchmark", name, [*known, *(one.name for one in known.values())])


def benchmark_dataset(dataset: Dataset, name: str, path: Path) -> Dataset:
    """The cases of a benchmark, called by its name; by its id where two have that name."""
    known = benchmarks_in(memory_objects(dataset))
    key = find_benchmark(known, name, path)
    wanted, own = frozenset(known[key].test_case_ids), known[key].name
    cases = tuple(case for case in dataset.cases if case.id in wanted)
    if not cases:
        raise DatasetError(
            f"the benchmark {key!r} has no cases", path=path, hint="list them in its `testCaseIds`"
        )
    is_shared = sum(one.name == own for one in known.values()) > 1
    return dataset.model_copy(update={"name": key if is_shared else own, "cases": cases})


def merge_benchmark(suite: Suite, key: str, benchmark: Benchmark) -> Suite:
    """The suite with what it does not set itself: owner, status, description, threshold."""
    changes: dict[str, object] = {
        "benchmark": key,
        "owner": suite.owner or benchmark.owner_id or None,
        "description": suite.description or benchmark.description,
    }
    if "status" not in suite.model_fields_set:
        changes["status"] = benchmark.status
    gate, least = suite.gate, benchmark.passing_threshold
    if least is not None and (gate is None or (gate.tier is None and gate.threshold is None)):
        if not 0 <= least <= 1:
            raise SettingsError(
                f"the `passingThreshold` of the benchmark {key!r} is {least:g}, and overall scores "
                "lie between 0 and 1",
                hint="write it as a fraction (0.75), or set `gate: {threshold: …}` in a suite with "
                "this `dataset` and `benchmark`",
            )
        # In a memory a benchmark passes when its overall score reaches the threshold, however few
        # the cases; a suite with a gate of its own keeps its rule.
        changes["gate"] = (
            Gate(threshold=least, rule="point")
            if gate is None
            else gate.model_copy(update={"threshold": least})
        )
    return suite.model_copy(update=changes)


def whole_memory_note(suite: Suite, objects: Sequence[JsonObject]) -> Iterator[str]:
    """In words that a memory with several benchmarks is run as a whole; nothing for any other."""
    known = benchmarks_in(objects)
    if suite.benchmark is None and len(known) > 1:
        yield (
            f"all cases of {suite.dataset} are run; to run one of its {len(known)} benchmarks: "
            f"--benchmark {'|'.join(known)}"
        )


def refuse_retired(suite: Suite, *, allowed: bool = False) -> None:
    """Refuse to run a retired suite, unless that is asked for."""
    if suite.status == "retired" and not allowed:
        what = "suite" if suite.benchmark is None else "benchmark"
        owner = "" if suite.owner is None else f" (owner: {suite.owner})"
        raise RetiredSuiteError(
            f"the {what} {suite.name!r} is retired{owner}, so it is not run",
            hint="run it nevertheless with --retired (in Python `retired=True`), or set its "
            "`status` to active",
        )
