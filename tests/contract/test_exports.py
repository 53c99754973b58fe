"""Every file that a stored run or comparison is exported to, and what is read of it again."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.contract.material import CASES, SUITE, laboratory, rows
from tests.contract.shapes import figures, shape
from tests.contract.terminal import judgekit, repeatable

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contract.pinning import Pins

EXPORTS = {
    "results.jsonl": "",
    "results.json": "--failed",
    "results.csv": "--variant a",
    "junit.xml": "",
    "grading.json": "--variant a --filter-tag odd",
    "gradings": "--format grading --variant b",
    "history.json": "",
    "report.yaml": "",
    "rows.csv": "--format strategies",
    "rows.json": "--format strategies --variant a",
    "memory.json": "--format quality --variant a",
    "memory.jsonl": "--format quality",
    "comparison.json": "--format comparison",
    "comparisons": "--format comparison",
    "preferences.jsonl": "--format preferences",
    "analysis.json": "--format analysis",
    "promptfoo.json": "--format promptfoo",
}
"""Each file with the options it is exported with."""

ANALYSIS = {
    "strengths": [{"quote": "Gladly", "text": "It is polite."}],
    "weaknesses": [{"quote": "Perhaps", "text": "It is unsure."}],
    "suggestions": [
        {"area": "tone", "before": "Perhaps it is", "reasoning": "Surer.", "after": "It is"}
    ],
}
_WHEN = {"timestamp"}
"""Attributes of XML that no run repeats."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The laboratory after a run of two variants, their comparison and all exports."""
    folder = tmp_path_factory.mktemp("place") / "lab"
    known = laboratory()
    known["replies.jsonl"] += rows(
        {"case_id": case, "criterion": "analysis", "text": json.dumps(ANALYSIS)} for case in CASES
    )
    suite = SUITE.replace("  - {id: c, outputs: outputs/c.jsonl}\n", "")
    for name, text in (known | {"judgekit.yaml": suite}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert judgekit("run", "-q", folder=folder).code == 0
    assert judgekit("compare", "a", "b", "-q", "--analysis", "why.json", folder=folder).code == 0
    for name, options in EXPORTS.items():
        ran = judgekit("export", "latest", "-o", name, *options.split(), folder=folder)
        assert ran.code == 0, ran.err
    return folder


def held(path: Path, folder: Path) -> Any:
    """What a file holds, as JSON."""
    whole = path.read_text(encoding="utf-8")
    if path.suffix == ".xml":
        return element(ET.fromstring(whole))  # noqa: S314 - our own file
    text = repeatable(whole, folder)
    if path.suffix == ".json":
        return json.loads(text)
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    if path.suffix == ".csv":
        return list(csv.DictReader(text.splitlines()))
    return yaml.safe_load(text)


def element(node: ET.Element) -> dict[str, Any]:
    """An element of XML as JSON."""
    if node.get("name") == "run":
        return {"tag": node.tag}
    known = {"tag": node.tag, "parts": [element(part) for part in node]}
    return known | {f"@{name}": value for name, value in node.attrib.items() if name not in _WHEN}


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_holds_what_is_pinned(name: str, lab: Path, pins: Pins) -> None:
    path = lab / name
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    content = [held(file, lab) for file in files]
    names = [file.name for file in files][:3]
    pinned = {"files": names, "shape": shape(content), "figures": figures(content)}
    pins.check("exports", name, pinned)


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_recognised(name: str, lab: Path, pins: Pins) -> None:
    ran = judgekit("validate", name, "--json", folder=lab)
    kinds = sorted({file["kind"] for file in ran.json["files"]})
    pins.check("exports", f"{name} is", {"exit": ran.code, "kinds": kinds})


def test_a_history_is_added_to(lab: Path) -> None:
    def versions() -> list[int]:
        known = json.loads((lab / "twice.json").read_text(encoding="utf-8"))
        return [version["version"] for version in known["versions"]]

    export = ("export", "latest", "-o", "twice.json", "--format", "history")
    assert judgekit(*export, folder=lab).code == 0
    first = versions()
    assert judgekit(*export, folder=lab).code == 0
    assert versions()[: len(first)] == first


def test_exported_results_are_outputs_again(lab: Path, pins: Pins) -> None:
    ran = judgekit("grade", "results.jsonl", "--rubric", "rubric.yaml", "--judge",
                   "recorded:replies.jsonl", "-q", "--json", folder=lab)  # fmt: skip
    rates = {v["variant"]: [v["n_passed"], v["n"]] for v in ran.json["summary"]["variants"]}
    pins.check("exports", "results graded again", {"exit": ran.code, "passed": rates})


def test_exported_preferences_are_ranked_without_a_judge(lab: Path, pins: Pins) -> None:
    ran = judgekit("rank", "preferences.jsonl", "--json", folder=lab)
    pins.check("exports", "preferences ranked", {"exit": ran.code, "figures": figures(ran.json)})


def test_an_analysis_names_the_template_it_was_asked_with(lab: Path, pins: Pins) -> None:
    written = json.loads((lab / "analysis.json").read_text(encoding="utf-8"))
    (judge,) = {entry["judgekit"]["judge"] for entry in written}
    pins.check("shipped", "analysis template", judge.removeprefix("recorded:replies.jsonl "))
    assert json.loads((lab / "why.json").read_text(encoding="utf-8")) == written
