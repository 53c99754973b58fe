"""Every figure of the tests of creative writing that `judgekit calibrate` gives.

Fourteen tests that a story passes or not, three experts, and judges that mostly say yes.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from judgekit.stats.rogan_gladen import corrected_pass_rate
from tests.public_data import places
from tests.public_data.by_command import judged, under
from tests.public_data.door import told, written
from tests.public_data.material import judges_of, rows_of
from tests.public_data.places import at, figures

if TYPE_CHECKING:
    from pathlib import Path

    from tests.public_data.by_command import Judged
    from tests.public_data.material import Figures, Rows


def ttcw() -> Figures:
    """Every figure of the tests of creative writing, by `judge/statistic`."""
    name, stem = "ttcw", "pointwise"
    rows = rows_of(f"{name}/{stem}")
    found: Figures = {}
    halves = _halves(rows)
    true_rate = _true_rate(halves[1])
    for judge in judges_of(rows):
        one = judged(name, stem, judge)
        own_figures = figures(one.settled, places.YES_NO)
        own_figures["rogan_gladen_rate"] = _corrected(one, halves[0]) | {"true_rate": true_rate}
        found |= under(judge, own_figures | {"per_story_pearson": _per_story(rows, one)})
        found |= under("experts", _experts(one.settled))
    return found


def _votes(rows: Rows) -> Rows:
    """What the experts voted, each test of a story as an output of one case, the story."""
    return [
        {"case_id": row["doc_id"], "variant": row["criterion"], "annotator": who, "raw": vote}
        for row in rows
        for who, vote in zip(row["human_annotator"], row["human"], strict=True)
    ]


def _halves(rows: Rows) -> tuple[Path, Path]:
    """The votes on rows whose id has an even hash, which calibrate, and those on the rest."""
    halves: tuple[Rows, Rows] = [], []
    for row in rows:
        is_odd = int(hashlib.sha256(row["id"].encode()).hexdigest(), 16) % 2
        halves[is_odd].extend(_votes([row]))
    return written(halves[0]), written(halves[1])


def _true_rate(labels: Path) -> Any:
    """How much people pass of the other half; any judge will do to have it counted."""
    one = judged("ttcw", "pointwise", judges_of(rows_of("ttcw/pointwise"))[0])
    return at(told(labels, *_read_as_theirs(one)).report, "overall.pass_fail.human_rate.value")


def _read_as_theirs(one: Judged) -> tuple[Any, ...]:
    read = one.told.readings | {part.reading: part.theirs for part in one.partings}
    said = written(
        {"case_id": story, "variant": test, "raw": raw}
        for (story, _, test, _, _), raw in read.items()
    )
    test = {"name": "test", "question": "Is it passed?", "scale": "binary"}
    rubric = written([{"name": "tests", "criteria": [test]}], ".json")
    return "--rubric", rubric, "--results", said


def _corrected(one: Judged, labels: Path) -> dict[str, Any]:
    """Rogan and Gladen's rate of what is not labelled, by the errors where it is.

    The command refuses to correct a judge that cannot be told from chance. What the formula alone
    would give is then made of the counts that it prints.
    """
    report = told(labels, *_read_as_theirs(one), "--labels-are", "other").report
    found = {name: at(report, path) for name, path in places.CORRECTED.items()}
    if found["value"] is None:
        counts, n = at(report, "overall.pass_fail"), found["n"]
        n_pos = counts["true_pos"] + counts["false_neg"]
        n_neg = counts["true_neg"] + counts["false_pos"]
        n_passed = round(found["observed_rate"] * n)
        pos, neg = counts["true_pos"], counts["true_neg"]
        found["value"] = corrected_pass_rate(n_passed, n, pos, n_pos, neg, n_neg).value
    return found


def _per_story(rows: Rows, one: Judged) -> dict[str, Any]:
    """How many tests a story passes, by the judge and by the majority taken as one annotator."""
    majority = [
        {
            "case_id": row["doc_id"], "variant": row["criterion"], "annotator": "majority",
            "raw": int(2 * sum(row["human"]) > len(row["human"])),
        }
        for row in rows
    ]  # fmt: skip
    report = told(written(majority), *_read_as_theirs(one)).report
    return figures(report, places.PER_STORY)["per_story_pearson"]


def _experts(report: dict[str, Any]) -> Figures:
    found = figures(report, places.EXPERTS)
    for criterion in report["criteria"]:
        fleiss = report["criteria"][criterion]["people"]["fleiss_kappa"]
        found[f"fleiss_kappa[{criterion}]"] = {"value": fleiss["value"], "n": fleiss["n"]}
    for segment in report["pooled"]["segments"]:
        if segment["kind"] == "variant":
            rate = {"value": segment["human_mean"]["value"], "n": segment["n_labels"]}
            found[f"pass_rate[{segment['name']}]"] = rate
    return found
