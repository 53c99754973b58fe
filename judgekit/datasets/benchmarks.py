"""Finds the benchmarks of a quality memory, and takes their cases from its dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit import formats  # loaded when used: for quality memories alone
from judgekit.errors import DatasetError, SettingsError, UnknownNameError
from judgekit.records import Dataset, JsonObject, memory_objects, objects_of

if TYPE_CHECKING:
    from judgekit.formats import Benchmark


def benchmarks_in(objects: Sequence[JsonObject]) -> dict[str, Benchmark]:
    """The benchmarks of a quality memory by their ids."""
    return {
        key: formats.Benchmark.model_validate(fields)
        for key, fields in objects_of(objects, "benchmark")
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
