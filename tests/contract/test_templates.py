"""The shipped templates: each has the fingerprint that verdicts and cached replies name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import judgekit as jk
from tests.contract.judging import asked, label
from tests.contract.pinning import read
from tests.contract.terminal import judgekit

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contract.pinning import Pins

TEMPLATES = sorted(read("templates"))
_RUBRICS = {
    "pointwise/yes_no": "binary",
    "pointwise/checklist": "binary",
    "pointwise/checklist_2026_11": "binary",
    "pointwise/few_shot_2026_11": "examples",
    "pointwise/few_shot": "examples",
}
_RUBRIC = "levels"


def fingerprinted(name: str) -> str:
    """A template as verdicts name it, `name@fingerprint`."""
    with jk.Judge(jk.ScriptedModel(""), cache=None, template=name) as judge:
        named = jk.Panel([judge]).id if name.startswith("pairwise/") else judge.id
    return named.removeprefix("scripted ")


def test_the_shipped_templates_and_rubrics_are_as_pinned(tmp_path: Path, pins: Pins) -> None:
    checked = judgekit("lint", "--json", folder=tmp_path).json["checked"]
    names = sorted(entry["name"] for entry in checked if entry["kind"] == "template")
    pins.check("shipped", "rubrics", sorted(e["name"] for e in checked if e["kind"] == "rubric"))
    if pins.updates:
        for name in names:
            pins.check("templates", name, fingerprinted(name))
    # What an earlier release asked is kept for its replies, and no longer checked unless named.
    assert names == sorted(name for name in read("templates") if not name.endswith("_2026_11"))


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_shipped_template_has_its_fingerprint(name: str, pins: Pins) -> None:
    pins.check("templates", name, fingerprinted(name))


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_shipped_template_asks_the_same_bytes(name: str, pins: Pins) -> None:
    outputs = ("plain", "other") if name.startswith("pairwise/") else ("trace",)
    requests = asked({"template": name}, _RUBRICS.get(name, _RUBRIC), "plain", *outputs)
    pins.check("template_keys", name, {label(request): request.key for request in requests})


def test_a_template_of_ones_own_is_named_by_its_source(tmp_path: Path, pins: Pins) -> None:
    source = (
        '{% block system %}{% include "partials/grader.j2" %}{% endblock %}\n'
        '{% block shared %}{% include "partials/output.j2" %}{% endblock %}\n'
        '{% block question %}{% include "partials/criterion.j2" %}\nRating: ?{% endblock %}\n'
    )
    (tmp_path / "own.j2").write_text(source, encoding="utf-8")
    with jk.Judge(
        jk.ScriptedModel(""), cache=None, template="own", template_folders=[tmp_path]
    ) as judge:
        pins.check("shipped", "own template", judge.id)
