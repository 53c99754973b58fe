"""Every file of cases that can be read: what is read of it, and that writing it loses nothing."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from tests.contract.terminal import judgekit, repeatable

if TYPE_CHECKING:
    from tests.contract.pinning import Pins

# The configuration of promptfoo names prompts and providers, which no dataset holds.
pytestmark = pytest.mark.filterwarnings("ignore::judgekit.errors.NotImportedWarning")

FILES = Path(__file__).parent / "files"
DATASETS = (
    "cases.csv",
    "cases.json",
    "cases.jsonl",
    "cases.yaml",
    "evals.json",
    "promptfooconfig.yaml",
    "quality.json",
    "samples.jsonl",
    "skill",
    "skill.zip",
    "tests_v1.json",
    "workflow.json",
)
LOGS = ("spans.json",)
"""Their cases are those that were run; nothing is written in their form."""

SUITE = "suite.yaml"
"""Its cases stand in another file, which is the dataset."""

OTHERS = (
    "graders.json",
    "history.json",
    "labels.csv",
    "outputs.jsonl",
    "promptfoo_results.json",
    "recorded.jsonl",
    "rubric.yaml",
    "table.csv",
)
FORMS = {
    "cases": ("cases.jsonl", "cases.json", "cases.yaml", "cases.csv", "cases.parquet"),
    "quality": ("memory.json", "memory.jsonl"),
    "rubric": ("rubric.yaml",),
    "skill-evals": ("evals.json",),
    "skill-tests": ("tests.json",),
    "skill-tests-v1": ("tests_v1.json",),
    "suite": ("suite",),
    "workflow": ("workflow.json",),
}
TARGETS = [(form, name) for form, names in FORMS.items() for name in names]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with all files of the test, and the skill packed as well."""
    place = tmp_path / "files"
    shutil.copytree(FILES, place)
    with zipfile.ZipFile(place / "skill.zip", "w") as archive:
        for path in sorted((place / "skill").rglob("*")):
            archive.write(path, path.relative_to(place / "skill"))
    return place


def cases(path: Path) -> list[dict[str, Any]]:
    """What is read of a file: the cases as JSON, without what is not there."""
    known = [case.to_json() for case in jk.load_dataset(path).cases]
    return [{name: value for name, value in case.items() if value not in (None, [], {}, ())}
            for case in known]  # fmt: skip


@pytest.mark.parametrize("name", [*DATASETS, *LOGS])
def test_a_dataset_is_read_as_pinned(name: str, here: Path, pins: Pins) -> None:
    dataset = jk.load_dataset(here / name)
    problems = [(problem.severity, problem.line) for problem in jk.validate_dataset(dataset)]
    known = {"name": dataset.name, "version": dataset.version, "problems": problems}
    pins.check("datasets", name, known | {"cases": cases(here / name)})


@pytest.mark.parametrize("name", [*DATASETS, *LOGS, SUITE, *OTHERS])
def test_a_file_is_recognised_by_what_it_holds(name: str, here: Path, pins: Pins) -> None:
    (here / name).rename(here / f"renamed-{name}")
    ran = judgekit("validate", f"renamed-{name}", "--json", folder=here)
    found = [(finding["severity"], finding["line"]) for finding in ran.json["findings"]]
    kinds = [file["kind"] for file in ran.json["files"]]
    pins.check("recognised", name, {"exit": ran.code, "kinds": kinds, "findings": found})


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_dataset_is_refused_as_one(name: str, here: Path) -> None:
    with pytest.raises(jk.DatasetError, match=name):
        jk.load_dataset(here / name)


def test_a_suite_is_loaded_as_the_dataset_it_names(here: Path) -> None:
    assert jk.load_dataset(here / SUITE) == jk.load_dataset(here / "cases.json")


def test_datasets_in_a_folder_are_found(here: Path, pins: Pins) -> None:
    found = [str(path.relative_to(here)) for path in jk.discover_datasets(here)]
    pins.check("datasets", "discovered", found)


@pytest.mark.no_cover
@pytest.mark.parametrize(("form", "target"), TARGETS)
@pytest.mark.parametrize("name", [*DATASETS, SUITE])
def test_a_conversion_writes_what_is_pinned_or_says_what_it_would_lose(
    name: str, form: str, target: str, here: Path, pins: Pins
) -> None:
    before = cases(here / ("cases.json" if name == SUITE else name))
    (here / "out").mkdir()
    line = ("convert", name, "--to", form, "-o", f"out/{target}", "--json")
    ran = judgekit(*line, folder=here)
    is_lossless = ran.code == 0
    lossy = ran if is_lossless else judgekit(*line, "--lossy", folder=here)
    written = sorted(path for path in (here / "out").rglob("*") if path.is_file())
    files = {str(path.relative_to(here / "out")): content(path, here) for path in written}
    pinned = {"exit": ran.code, "exit with --lossy": lossy.code, "files": files}
    pins.check("conversions", f"{name} to {target}", pinned)
    if is_lossless and form != "rubric":
        dataset = here / "out" / target / ("cases.jsonl" if form == "suite" else "")
        assert holds(cases(dataset), before)


def content(path: Path, here: Path) -> Any:
    """What a written file holds: JSON as JSON, else its lines."""
    if path.suffix == ".parquet":
        return "parquet"
    text = repeatable(path.read_text(encoding="utf-8"), here)
    if path.suffix == ".json":
        return json.loads(text)
    return text.splitlines()


def holds(after: Any, before: Any) -> bool:
    """Whether everything that was there is there; a format may ask for a name besides."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(name in after and holds(after[name], before[name]) for name in before)
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return all(holds(*pair) for pair in zip(after, before, strict=True))
    return bool(after == before)


def test_a_column_may_have_another_name(here: Path, pins: Pins) -> None:
    named = ("--column", "number=id", "--column", "question=input", "--column", "gold=reference")
    ran = judgekit("convert", "table.csv", "-o", "out.jsonl", *named, "--json", folder=here)
    assert ran.code == 0
    pins.check("datasets", "columns", cases(here / "out.jsonl"))


def test_a_rubric_is_read_and_written_without_loss(here: Path, pins: Pins) -> None:
    rubric = jk.load_rubric(here / "rubric.yaml")
    (here / "again.json").write_text(json.dumps(rubric.to_json()), encoding="utf-8")
    assert jk.load_rubric(here / "again.json") == rubric
    pins.check("datasets", "rubric", rubric.to_json())


def test_graders_become_a_rubric(here: Path, pins: Pins) -> None:
    ran = judgekit("convert", "graders.json", "-o", "r.yaml", "--to", "rubric", "--lossy",
                   "--json", folder=here)  # fmt: skip
    assert ran.code == 0
    pins.check("datasets", "graders", jk.load_rubric(here / "r.yaml").to_json())


@pytest.mark.parametrize("name", ["promptfoo_results.json", "outputs.jsonl"])
def test_outputs_are_planned_as_pinned(name: str, here: Path, pins: Pins) -> None:
    ran = judgekit("plan", name, "--rubric", "helpfulness", "--json",
                   "--judge", "recorded:recorded.jsonl", folder=here)  # fmt: skip
    pins.check("recognised", f"plan {name}", {"exit": ran.code, "answer": ran.json})
