"""Writes the rubric a file comes to: of grader specs, or the one its cases share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from judgekit.datasets.documents import dump_yaml
from judgekit.datasets.foreign.graders import read_graders
from judgekit.datasets.foreign.marks import is_graders
from judgekit.datasets.opening import whole_document
from judgekit.errors import SettingsError
from judgekit.records.rubric import Rubric
from judgekit.report.conversions.source import open_source
from judgekit.report.formats.listing import json_text
from judgekit.report.replacing import check_place, replace_text

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.records.record import JsonObject

SUFFIXES = (".yaml", ".yml", ".json")
"""The files a rubric can be written to."""


def rubric_in(path: Path) -> tuple[Rubric, tuple[str, ...]]:
    """The rubric a file comes to."""
    document = whole_document(path)
    value = None if document is None else document.value
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, dict) and is_graders(first):
        found = read_graders(path)
        lost = tuple(f"the check {_shown(spec)}" for spec in found.assertions)
        if found.rubric is None:
            listed = ", ".join(map(_shown, found.assertions))
            raise SettingsError(
                f"{path} holds no criteria, only checks that need no model",
                hint=f"write them into a suite, as `assertions: [{listed}]`",
            )
        rubrics = [found.rubric]
    else:
        lost = ()
        rubrics = []
        for case in open_source(path).cases:
            if isinstance(case.rubric, Rubric) and case.rubric not in rubrics:
                rubrics.append(case.rubric)
    if len(rubrics) != 1:
        n = "no rubric" if not rubrics else f"{len(rubrics)} rubrics"
        raise SettingsError(f"{path} holds {n}", hint="a suite keeps each case's own: --to suite")
    return rubrics[0], lost


def _shown(spec: JsonObject) -> str:
    """An assertion as it is written into a suite."""
    return json.dumps(spec, ensure_ascii=False)


def write_rubric(path: Path, rubric: Rubric) -> None:
    """Write a rubric; `load_rubric` reads the same again."""
    check_place(path, SUFFIXES, what="a rubric", may_be_folder=False)
    fields = rubric.to_json()
    is_json = path.suffix.lower() == ".json"
    replace_text(path, json_text(fields, indent=2) + "\n" if is_json else dump_yaml(fields))
