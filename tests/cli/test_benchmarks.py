"""Benchmarks: run by name, gated by their threshold, and carried from memory to memory (S0.5)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.datasets import Suite
from judgekit.errors import RetiredSuiteError
from judgekit.evaluation import Choice
from tests.cli.quality_memory import (
    MEMORY,
    ON_OUTPUTS,
    OUTPUTS,
    REPLIES,
    Object,
    an_object,
    benchmark,
    memory,
    write_lab,
    write_memory,
)

if TYPE_CHECKING:
    from tests.cli.commanding import Ran, Run

SUITE = f"""name: sums
dataset: {MEMORY}
benchmark: Sums
judge: recorded:{REPLIES}
variants: [{{id: v1, outputs: {OUTPUTS}}}]
"""


@pytest.fixture
def lab(run: Run) -> Run:
    """The command line in a folder with the memory, and outputs of two variants."""
    write_lab("v1", "v2")
    return run


def stored(lab: Run) -> dict[str, Any]:
    found: dict[str, Any] = lab("show", "latest", "--json").json["run"]
    return found


def exported(lab: Run, name: str = "out.json", run: str = "latest") -> list[Object]:
    assert lab("export", run, "--format", "quality", "-o", name).code == 0
    text = Path(name).read_text()
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines()]
    found: list[Object] = json.loads(text)
    return found


def by_id(objects: list[Object]) -> dict[tuple[str, str], Object]:
    return {(one["type"], one["id"]): one for one in objects}


def words(ran: Ran) -> str:
    return " ".join(f"{ran.out} {ran.err}".split())


@pytest.mark.parametrize("name", ["bm2", "Sums"])
def test_a_benchmark_is_run_by_its_id_or_name(lab: Run, name: str) -> None:
    ran = lab("run", MEMORY, "--benchmark", name, *ON_OUTPUTS)
    info = stored(lab)
    assert (info["suite"], info["n_cases"], info["config"]["benchmark"]) == ("Sums", 3, "bm2")
    assert (info["config"]["owner"], info["config"]["gate"]["threshold"]) == ("bob", 0.75)
    assert "owner bob" in words(lab("show", "latest"))
    assert "outputs for" not in ran.err, "outputs for cases of other benchmarks are no mistake"


@pytest.mark.parametrize(("variant", "code", "result"), [
    ("v1", 0, "v1: reaches the threshold: value 1.00"),
    ("v2", 1, "v2: is below the threshold: value 0.67"),
])  # fmt: skip
def test_its_threshold_decides(lab: Run, variant: str, code: int, result: str) -> None:
    ran = lab("run", MEMORY, "--benchmark", "bm2", "--variant", variant, *ON_OUTPUTS)
    assert ran.code == code
    assert result in words(ran)
    assert "0.75 required, decided by the measured value" in words(ran)
    assert lab("gate").code == code
    assert lab("gate", "--tier", "experimental", "--gate-rule", "point").code == 0


def test_a_suite_names_a_benchmark_of_its_dataset_and_may_have_a_gate_of_its_own(lab: Run) -> None:
    Path("suite.yaml").write_text(SUITE)
    assert lab("run", "suite.yaml", "-q").code == 0
    assert (stored(lab)["suite"], stored(lab)["n_cases"]) == ("sums", 3)
    ran = lab("grade", "-c", "suite.yaml", "--rubric", f"{MEMORY}#rub-7", "-q")
    assert (ran.code, "left out" in ran.err) == (0, False)
    assert stored(lab)["n_cases"] == 3
    Path("suite.yaml").write_text(SUITE + "gate: {threshold: 1, max_drop: 0.5}\n")
    ran = lab("run", "suite.yaml", "-q")
    assert (ran.code, "1 required; more cases" in words(ran)) == (4, True)


def test_without_a_benchmark_all_cases_are_run_and_the_benchmarks_are_listed(lab: Run) -> None:
    ran = lab("run", MEMORY, "--variant", "v1", *ON_OUTPUTS)
    assert (stored(lab)["n_cases"], "gate" in stored(lab)["config"]) == (5, False)
    assert "3 benchmarks: --benchmark bm1|bm2|bm3" in words(ran)


def test_plan_takes_a_benchmark(lab: Run) -> None:
    planned = lab("plan", MEMORY, "--benchmark", "bm3", "--variant", "v1", *ON_OUTPUTS[:4])
    assert "Kindness: 1 case by 1 variant" in words(planned)


@pytest.mark.parametrize(
    ("objects", "name", "problem"),
    [
        (memory(), "bm9", "no benchmark is called 'bm9' did you mean bm3 or bm2 or bm1?"),
        ([*memory(), benchmark("bm4", "Sums", "tc-1")], "Sums",
         "2 benchmarks of memory.json are called 'Sums' name one by its id: bm2, bm4"),
        (memory()[:9], "bm1", "memory.json holds no benchmarks"),
        ([*memory(), benchmark("bm4", "None")], "bm4", "the benchmark 'bm4' has no cases"),
        ([*memory(), benchmark("bm4", "Percent", "tc-1", passingThreshold=75)], "bm4",
         "`passingThreshold` of the benchmark 'bm4' is 75"),
        ([*memory(), benchmark("bm4", "x", "tc-0")], "bm1", "no test-case has the id 'tc-0'"),
    ],
)  # fmt: skip
def test_a_benchmark_that_cannot_be_run_is_an_error_before_anything_is_asked(
    lab: Run, objects: list[Object], name: str, problem: str
) -> None:
    write_memory(objects)
    ran = lab("run", MEMORY, "--benchmark", name, *ON_OUTPUTS)
    assert ran.code == 2
    assert problem in words(ran)


def test_cases_that_stand_in_the_suite_are_of_no_benchmark(lab: Run) -> None:
    cases = "name: s\ncases: [{id: a, input: b}]\nassertions: [{type: contains, value: b}]\n"
    Path("suite.yaml").write_text(f"{cases}benchmark: bm1\n")
    assert "a `benchmark` is one of a quality memory" in words(lab("run", "suite.yaml"))
    Path("suite.yaml").write_text(cases)
    assert "holds no benchmarks" in words(lab("run", "suite.yaml", "--benchmark", "bm1"))


def test_a_retired_benchmark_is_run_only_on_request(lab: Run) -> None:
    command = ("run", MEMORY, "--benchmark", "bm3", "--variant", "v1", *ON_OUTPUTS)
    ran = lab(*command)
    assert ran.code == 2
    assert "the benchmark 'Kindness' is retired (owner: ada), so it is not run" in words(ran)
    assert "--retired" in ran.err
    assert lab("show").code != 0, "nothing was stored"
    assert lab(*command, "--retired").code == 0
    assert stored(lab)["config"]["status"] == "retired"


def test_a_retired_suite_is_run_only_on_request_from_python_and_in_a_grading_too(lab: Run) -> None:
    retired = SUITE + "status: retired\nowner: ada\n"
    Path("suite.yaml").write_text(retired)
    for command in ("run suite.yaml", f"grade -c suite.yaml --rubric {MEMORY}#rub-7"):
        assert lab(*command.split()).code == 2
        assert lab(*command.split(), "--retired").code == 0
    with pytest.raises(RetiredSuiteError, match="is retired"):
        jk.evaluate_sync("suite.yaml")
    with jk.evaluate_sync("suite.yaml", retired=True, choice=Choice(limit=1)) as ran:
        assert ran.info.n_cases == 1
    Path("suite.yaml").write_text(SUITE.replace("Sums", "bm3") + "status: active\n")
    assert lab("run", "suite.yaml", "-q").code == 0, "the suite's own status goes first"


def test_of_a_folder_the_retired_suites_are_skipped(lab: Run) -> None:
    for name, status in (("old", "retired"), ("new", "active")):
        text = SUITE.replace("name: sums", f"name: {name}") + f"status: {status}\n"
        Path(f"{name}.yaml").write_text(text)
    ran = lab("run", ".", "-q")
    assert ran.code == 0
    assert "skipped: the benchmark 'old' is retired" in words(ran)
    assert {one["suite"] for one in lab("show", "--json").json["runs"]} == {"new"}
    ran = lab("run", ".", "--benchmark", "bm1", "-q")
    assert (ran.code, "--benchmark is for one dataset" in words(ran)) == (2, True)
    Path("new.yaml").unlink()
    assert lab("run", ".", "-q").code == 2


def test_evaluate_runs_a_benchmark(lab: Run) -> None:
    suite = Suite.model_validate({
        "name": "x", "dataset": MEMORY,
        "judge": f"recorded:{REPLIES}", "variants": [{"id": "v2", "outputs": OUTPUTS}],
    })  # fmt: skip
    assert lab is not None
    with jk.evaluate_sync(suite, benchmark="Sums", triggered_by="a hook") as ran:
        gate = ran.gate()
        assert (ran.info.n_cases, ran.info.triggered_by) == (3, "a hook")
        assert gate is not None
        assert gate.held == "failed"
    assert [case.id for case in jk.load_dataset(MEMORY, benchmark="bm1").cases] == ["tc-1", "tc-2"]


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_memory_comes_out_as_it_went_in_with_the_run_added(lab: Run, suffix: str) -> None:
    before = memory()
    source = write_memory(before[::-1], f"given{suffix}")
    lab("run", source, "--benchmark", "bm2", *ON_OUTPUTS, "--triggered-by", "ci 7")
    after = by_id(exported(lab, f"out{suffix}"))
    run = stored(lab)["id"]
    for one in before:
        now = after[one["type"], one["id"]]
        if one["id"] != "bm2":
            assert now == one
    now = after["benchmark", "bm2"]["fields"]
    assert (now.pop("lastScore"), bool(now.pop("lastRunAt"))) == (pytest.approx(2 / 3), True)
    assert now == before[10]["fields"]
    figures = after["benchmark-run", f"{run}/v2"]["fields"]
    assert (figures["benchmarkId"], figures["triggeredBy"]) == ("bm2", "ci 7")
    assert lab("validate", f"out{suffix}").code == 0


def test_an_exported_memory_is_run_and_exported_again(lab: Run) -> None:
    lab("run", MEMORY, "--benchmark", "bm2", *ON_OUTPUTS)
    first = by_id(exported(lab, "one.json"))
    lab("run", "one.json", "--benchmark", "bm1", "--variant", "v1", *ON_OUTPUTS)
    second = by_id(exported(lab, "two.json"))
    answers = {"test-run", "eval-judgment", "eval-failure"}
    kept = {key for key in first if key[0] not in answers}
    assert kept <= second.keys(), "only answers stay behind"
    assert {key: second[key] for key in kept - {("benchmark", "bm1")}} == {
        key: first[key] for key in kept - {("benchmark", "bm1")}
    }
    assert second["benchmark", "bm1"]["fields"]["lastScore"] == 1


def test_past_runs_of_a_memory_are_listed_and_are_part_of_no_trend(lab: Run) -> None:
    lab("run", MEMORY, "--benchmark", "bm2", *ON_OUTPUTS)
    listed = lab("history", "Sums")
    assert "Imported benchmark runs" in listed.out
    assert "schedule-3" in listed.out
    found = lab("history", "Sums", "--json").json["imported"]
    assert [(one["id"], one["overallScore"]) for one in found] == [("br-1", 0.5)]
    (first, _) = lab("trend", "Sums", "--json").json["trends"]
    assert len(first["series"]) == 1
    # What was exported from here has its answers here, so it is no imported run.
    exported(lab, "again.json")
    lab("run", "again.json", "--benchmark", "bm2", *ON_OUTPUTS)
    assert len(lab("history", "Sums", "--json").json["imported"]) == 1


def test_a_suite_of_its_own_is_a_benchmark_with_owner_status_and_threshold(lab: Run) -> None:
    Path("suite.yaml").write_text(
        "name: own\ndescription: what it is for\nowner: grace\nstatus: retired\n"
        "gate: {threshold: 0.9}\ncases: [{id: a, input: 1+1, reference: '2'}]\n"
        "assertions: [{type: contains, value: '2'}]\n"
        "variants: [{id: v, outputs: own.jsonl}]\n"
    )
    Path("own.jsonl").write_text('{"case_id": "a", "text": "2"}\n')
    lab("run", "suite.yaml", "--retired", "-q")
    (found,) = (one for one in exported(lab) if one["type"] == "benchmark")
    named = ("name", "description", "ownerId", "status", "passingThreshold")
    assert [found["fields"][name] for name in named] == [
        "own", "what it is for", "grace", "retired", 0.9,
    ]  # fmt: skip


def test_a_validation_report_is_about_the_threshold(lab: Run) -> None:
    lab("run", MEMORY, "--benchmark", "bm2", *ON_OUTPUTS)
    lab("export", "latest", "-o", "report.yaml")
    text = Path("report.yaml").read_text()
    assert "threshold: 0.75" in text
    assert "threshold_of: threshold of the gate" in text


def test_an_odd_benchmark_run_is_carried_and_listed_as_it_is(lab: Run) -> None:
    odd = an_object("benchmark-run", "br-odd", benchmarkId="bm2", passRate="80 %", triggeredBy=7)
    stranger = an_object("benchmark-run", "br-other", benchmarkId="bm-other", testRunIds=None)
    write_memory([*memory(), odd, stranger])
    lab("run", MEMORY, "--benchmark", "bm2", *ON_OUTPUTS)
    after = by_id(exported(lab))
    assert [after["benchmark-run", one["id"]] for one in (odd, stranger)] == [odd, stranger]
    listed = words(lab("history", "Sums"))
    assert ("80 %" in listed, "br-other" in listed) == (True, False)


def test_a_threshold_and_a_tier_are_one_limit_too_many(lab: Run) -> None:
    Path("suite.yaml").write_text(SUITE + "gate: {tier: production, threshold: 0.9}\n")
    ran = lab("run", "suite.yaml")
    assert (ran.code, "`tier` and `threshold` both set" in words(ran)) == (2, True)
