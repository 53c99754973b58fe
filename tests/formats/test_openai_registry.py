from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from judgekit.assertions import evaluate_assertions
from judgekit.datasets import load_dataset, validate_path
from judgekit.errors import NotImportedWarning
from judgekit.records import Case, Output, Rubric

SAMPLES = """\
{"input": [{"role": "user", "content": "2+2?"}], "ideal": "4"}
{"input": "A colour of the flag?", "ideal": ["Red", "The Blue."]}
"""
CLOSED = {
    "prompt": "[Task]: {input}\n[Answer]: {completion}\n[Criterion]: {criteria}\nMet?",
    "choice_strings": "YN", "choice_scores": {"Y": 1.0, "N": 0.0},
    "input_outputs": {"input": "completion"},
}  # fmt: skip
SPECS: dict[str, Any] = {
    "closed": CLOSED,
    "nested": {"nested": CLOSED},
    "scoreless": CLOSED | {"choice_scores": {"Y": 1}},
    "battle": CLOSED | {"input_outputs": {"input1": "completion1", "input2": "completion2"}},
}


def registry(folder: Path, **evals: tuple[str, dict[str, Any]]) -> Path:
    """A registry with a file of evals, each a class of the framework and its arguments."""
    for name, text in {
        "data/sums/samples.jsonl": SAMPLES,
        **{f"modelgraded/{one}.yaml": yaml.safe_dump(spec) for one, spec in SPECS.items()},
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    whole: dict[str, Any] = {"sums": {"id": "sums.dev.v0", "metrics": ["accuracy"]}}
    for name, (kind, more) in evals.items():
        args = {"samples_jsonl": "sums/samples.jsonl"} | more
        whole[name] = {"class": f"evals.elsuite.{kind}", "args": args}
    path = folder / "evals" / "sums.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(whole))
    return path


def passes(case: Case, text: str) -> bool | None:
    return evaluate_assertions(Output(text=text), [*case.assertions])[0].passed


@pytest.mark.parametrize(
    ("kind", "args", "good", "bad"),
    [
        ("basic.match:Match", {}, "4, of course", "It is 4"),
        ("basic.includes:Includes", {}, "It is 4", "four"),
        ("basic.fuzzy_match:FuzzyMatch", {}, "It is the 4!", "four"),
    ],
)
def test_an_eval_is_its_samples_with_its_check(
    tmp_path: Path, kind: str, args: dict[str, Any], good: str, bad: str
) -> None:
    dataset = load_dataset(registry(tmp_path, one=(kind, args)))
    assert dataset.name == "one"
    first, second = dataset.cases
    assert (first.id, first.input, first.tags) == ("sample-1", "2+2?", ("one",))
    assert (passes(first, good), passes(first, bad)) == (True, False)
    # Any of several ideals will do.
    assert [passes(second, text) for text in ("Red", "The Blue.", "Green")] == [True, True, False]


def test_includes_may_ignore_case(tmp_path: Path) -> None:
    path = registry(tmp_path, one=("basic.includes:Includes", {"ignore_case": True}))
    assert passes(load_dataset(path).cases[1], "it is RED") is True


@pytest.mark.parametrize("name", ["closed", "nested"])
def test_a_model_graded_eval_is_a_criterion_with_the_scores_of_its_choices(
    tmp_path: Path, name: str
) -> None:
    args = {"modelgraded_spec": name, "modelgraded_spec_args": {"criteria": "Is it right?"}}
    path = registry(tmp_path, one=("modelgraded.classify:ModelBasedClassify", args))
    rubric = load_dataset(path).cases[0].rubric
    assert isinstance(rubric, Rubric)
    (criterion,) = rubric.criteria
    assert criterion.question == (
        "[Task]: the input\n[Answer]: the output\n[Criterion]: Is it right?\nMet?"
    )
    assert {level.name: level.value for level in criterion.scale.levels} == {"Y": 1, "N": 0}


@pytest.mark.parametrize(
    ("kind", "args", "what"),
    [
        ("mmmu.eval:MMMU", {}, "evals.elsuite.mmmu.eval:MMMU is code, which"),
        ("basic.match:Match", {"strip": True}, "is not imported: `strip` has no counterpart here"),
        ("basic.match:Match", {"max_tokens": 9}, "`max_tokens` is not imported: it is a setting"),
        ("basic.match:Match", {"num_few_shot": 2}, "`num_few_shot` is not imported: write the"),
        ("modelgraded.classify:ModelBasedClassify", {"modelgraded_spec": "scoreless"},
         "the choices of 'scoreless' have no scores"),
        ("modelgraded.classify:ModelBasedClassify", {"modelgraded_spec": "battle"},
         "it compares several answers"),
    ],
)  # fmt: skip
def test_what_is_not_imported_is_listed_and_the_rest_is_read(
    tmp_path: Path, kind: str, args: dict[str, Any], what: str
) -> None:
    path = registry(tmp_path, one=("basic.match:Match", {}), two=(kind, args))
    (problem,) = validate_path(path)
    assert (problem.severity, what in problem.message) == ("left_out", True)
    with pytest.warns(NotImportedWarning, match="1 part of the file is not imported"):
        dataset = load_dataset(path)
    n_evals = 1 + (kind.endswith(":Match") and "strip" not in args)
    assert len(dataset.cases) == 2 * n_evals
    assert len({case.id for case in dataset.cases}) == 2 * n_evals


@pytest.mark.parametrize(
    ("samples", "args", "what"),
    [
        (SAMPLES, {"samples_jsonl": "../../../etc/passwd"}, "leads out of the folder"),
        (SAMPLES, {"samples_jsonl": "none.jsonl"}, "there is no file 'none.jsonl'"),
        ('{"input": "2+2?"}\n', {}, "the sample has no `ideal`"),
        ("version https://git-lfs.github.com/spec/v1\n", {}, "not JSON"),
    ],
)
def test_samples_that_cannot_be_read_are_an_error(
    tmp_path: Path, samples: str, args: dict[str, Any], what: str
) -> None:
    path = registry(tmp_path, one=("basic.match:Match", args))
    (tmp_path / "data/sums/samples.jsonl").write_text(samples)
    errors = [one for one in validate_path(path) if one.severity == "error"]
    assert what in errors[0].message
    assert ("git lfs pull" in str(errors[0].remedy)) == samples.startswith("version")
