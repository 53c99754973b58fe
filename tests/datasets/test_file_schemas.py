"""The JSON Schemas of files accept what the loaders accept, and explain every field."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from judgekit.cli.schema import SCHEMAS
from judgekit.datasets import load_dataset, load_rubric, load_suite, read_labels
from judgekit.datasets.outputs import iter_output_rows, valid_output
from judgekit.errors import JudgekitError
from judgekit.formats import document_kind, read_document
from judgekit.resources import shipped_file
from tests.datasets.file_schemas import file_schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROOT = shipped_file()
CRITERION = {"name": "c", "question": "Is it right?", "scale": "binary"}
SUITE = {"name": "s", "dataset": "cases.jsonl", "rubric": "helpfulness", "judge": "openai/a"}
VALID: dict[str, dict[str, Any]] = {
    "suite": SUITE,
    "rubric": {"name": "r", "criteria": [CRITERION]},
    "case": {"id": "a", "input": "What?"},
    "output": {"case_id": "a", "text": "That."},
    "label": {"case_id": "a", "annotator": "ann", "raw": 1},
}


@cache
def validator(kind: str) -> Draft202012Validator:
    path = shipped_file("prompts", f"{kind}.schema.json")
    return Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))


def loads(kind: str, value: object, folder: Path) -> bool:
    """Whether the loader of such files accepts one with this content."""
    path = folder / ("one.json" if kind in {"suite", "rubric"} else "one.jsonl")
    path.write_text(json.dumps(value), encoding="utf-8")
    try:
        if kind == "output":
            assert [valid_output(row, path) for row in iter_output_rows(path)]
        else:
            readers = {"suite": load_suite, "rubric": load_rubric, "case": load_dataset}
            readers.get(kind, read_labels)(path)
    except JudgekitError:
        return False
    return True


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_shipped_schema_is_that_of_the_records(kind: str) -> None:
    # `python -m tests.datasets.file_schemas` writes them.
    assert validator(kind).schema == file_schema(kind)
    Draft202012Validator.check_schema(file_schema(kind))


def fields_of(schema: object, at: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(schema, dict):
        for name, field in (schema.get("properties") or {}).items():
            yield f"{at}.{name}", field
        for name, part in schema.items():
            yield from fields_of(part, f"{at}.{name}")


@pytest.mark.parametrize("kind", SCHEMAS)
def test_editors_can_explain_every_field(kind: str) -> None:
    bare = [at for at, field in fields_of(file_schema(kind)) if "description" not in field]
    # What these are called says all.
    assert {at.rpartition(".")[2] for at in bare} <= {"name"}, bare


def written_documents(folder: Path) -> Iterator[tuple[str, object, str]]:
    """Suites and rubrics in the documentation and in files beside it, by kind."""
    paths = [*(ROOT / "prompts" / "rubrics").glob("*.yaml"), *ROOT.glob("calibration/**/*.yaml")]
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        for number, block in enumerate(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)):
            paths.append(folder / f"{page.stem} {number}.yaml")
            paths[-1].write_text(block, encoding="utf-8")
    for path in paths:
        value = read_document(path).value
        if (kind := document_kind(value)) in {"suite", "rubric"}:
            yield kind, value, path.name


def written_rows() -> Iterator[tuple[str, object, str]]:
    """Cases, outputs and labels in files beside the documentation, by kind."""
    for place in (ROOT / "calibration" / "demo", ROOT / "tests" / "contract" / "files"):
        for kind in ("case", "output", "label"):
            for path in sorted(place.glob(f"{kind}s*.jsonl")):
                for line in path.read_text(encoding="utf-8").splitlines()[:20]:
                    yield kind, json.loads(line), path.name


def test_every_valid_example_of_the_project_fits_its_schema(tmp_path: Path) -> None:
    n_checked = dict.fromkeys(SCHEMAS, 0)
    for kind, value, where in [*written_documents(tmp_path), *written_rows()]:
        if loads(kind, value, tmp_path):
            faults = [error.message for error in validator(kind).iter_errors(value)]
            assert not faults, where
            n_checked[kind] += 1
    assert n_checked["suite"] > 5
    assert n_checked["rubric"] > 5
    assert n_checked["case"] > 3
    assert n_checked["output"] > 3


SHORT_FORMS: list[tuple[str, dict[str, Any]]] = [
    ("suite", {"judge": ["openai/a", {"model": "openai/b"}], "panel": {"combine": "median"}}),
    ("suite", {"variants": [{"id": "v", "http": "https://localhost/x"}], "scorers": ["latency"]}),
    ("suite", {"dataset": None, "cases": [{"case_id": 7, "question": "What?"}]}),
    ("rubric", {"criteria": [{**CRITERION, "scale": "One to Five", "needs": "trace"}]}),
    ("rubric", {"criteria": [{**CRITERION, "scale": [{"value": 0}, {"value": 1}]}]}),
    ("rubric", {"criteria": [{**CRITERION, "scale": {"levels": [{"value": 0}, {"value": 1}]}}]}),
    ("case", {"id": 7}),
    ("output", {"usage": {"prompt_tokens": 3}, "colour": "red", "run_id": 4}),
    ("output", {"trace": [{"role": "user", "content": "Hi."}], "input": "What?"}),
    ("label", {"raw": True}),
    ("label", {"raw": "good", "rationale": "", "variant": None}),
    ("label", {"raw": None, "winner": "tie"}),
]


@pytest.mark.parametrize(("kind", "change"), SHORT_FORMS)
def test_short_forms_and_other_names_fit(kind: str, change: dict[str, Any], tmp_path: Path) -> None:
    value = {**VALID[kind], **change}
    assert loads(kind, value, tmp_path)
    assert not [error.message for error in validator(kind).iter_errors(value)]


MISTAKES: list[tuple[str, dict[str, Any]]] = [
    ("suite", {"judges": "openai/a"}),
    ("suite", {"name": None}),
    ("suite", {"judge": {"model": "openai/a", "mode": "both"}}),
    ("suite", {"judge": {"model": "openai/a", "repeats": 0}}),
    ("suite", {"gate": {"tier": "staging"}}),
    ("suite", {"variants": [{"outputs": "a.jsonl"}]}),
    ("rubric", {"criteria": []}),
    ("rubric", {"criteria": [{**CRITERION, "scale": "binnary"}]}),
    ("rubric", {"criteria": [{**CRITERION, "scale": {"min": 1}}]}),
    ("rubric", {"criteria": [{**CRITERION, "wieght": 2}]}),
    ("rubric", {"pass_threshold": 7}),
    ("case", {"id": ""}),
    ("case", {"colour": "red"}),
    ("case", {"status": "off"}),
    ("output", {"case_id": None}),
    ("output", {"text": 5}),
    ("label", {"confidence": 3}),
    ("label", {"winner": "a"}),
    ("label", {"raws": 1}),
]


@pytest.mark.parametrize(("kind", "change"), MISTAKES)
def test_mistakes_that_a_schema_can_express_are_refused_by_both(
    kind: str, change: dict[str, Any], tmp_path: Path
) -> None:
    value = {**VALID[kind], **change}
    assert not loads(kind, value, tmp_path)
    assert not validator(kind).is_valid(value)


def test_a_missing_field_is_refused_by_both(tmp_path: Path) -> None:
    for kind, value in VALID.items():
        assert loads(kind, value, tmp_path)
        assert validator(kind).is_valid(value)
        rest = dict(list(value.items())[1:])
        assert not loads(kind, rest, tmp_path), kind
        assert not validator(kind).is_valid(rest), kind
