"""Labelled sets: the public ones below `JUDGEKIT_DATA`, and a user's own outputs with labels.

Every set is split by its case ids: one part is for choosing a template, the other is held out.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import judgekit as jk
from judgekit import calibration
from judgekit.datasets import LocatedLabel, iter_case_outputs, locate_labels, read_labels
from judgekit.errors import SettingsError

Part = Literal["choosing", "held_out"]
Row = dict[str, Any]

DATA_VARIABLE = "JUDGEKIT_DATA"
_RUBRICS = Path(__file__).with_name("rubrics")
_HALF = 128
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Item:
    """One output with its case, or the two outputs of a pair."""

    case: jk.Case
    outputs: tuple[jk.Output, ...]

    @property
    def key(self) -> calibration.OutputKey:
        if len(self.outputs) == 1:
            return calibration.output_key(self.case, self.outputs[0])
        a, b = self.outputs
        return calibration.pair_key(self.case.id, a.variant, b.variant)

    @property
    def name(self) -> str:
        return "\n".join((self.case.id, *(output.variant or "" for output in self.outputs)))


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSet:
    """Items of one kind with their human labels, and the rubric they are judged by.

    Attributes:
        part: None while both parts are in it.
        note: What was left out when it was read.
    """

    name: str
    rubric: jk.Rubric
    items: tuple[Item, ...]
    labels: list[LocatedLabel]
    part: Part | None = None
    note: str = ""

    @property
    def is_pairs(self) -> bool:
        return any(len(item.outputs) == _PAIR for item in self.items)

    def take(self, part: Part, limit: int | None = None) -> LabelledSet:
        """The items of one part in a fixed order, so that a higher limit only adds items."""
        chosen = [item for item in self.items if part_of(item.case.id) == part]
        chosen.sort(key=lambda item: sha256(item.name.encode()).digest())
        return replace(self, part=part, items=tuple(chosen[:limit]))


def part_of(case_id: str) -> Part:
    """The part of a case: the same on every machine, whatever else is in the set."""
    # By case and not by output: outputs of one case share its input, and an item of the held-out
    # part must not be known from the other.
    return "choosing" if sha256(case_id.encode()).digest()[0] < _HALF else "held_out"


def public_set(name: str) -> LabelledSet:
    """A public set by its name, read from the folder that `JUDGEKIT_DATA` names."""
    folder = os.environ.get(DATA_VARIABLE)
    if not folder:
        raise SettingsError(
            f"the public sets are read from the folder {DATA_VARIABLE}, which is not set",
            hint="set it, or use your own labels: --labels FILE --outputs FILE --rubric FILE",
        )
    return PUBLIC_SETS[name](name, Path(folder))


def own_set(
    labels: Path, outputs: Sequence[Path], rubric: jk.Rubric, cases: jk.Dataset | None = None
) -> LabelledSet:
    """A user's outputs with labels: scores of single outputs, or winners of two variants."""
    located = read_labels(labels)
    answers = [pair for path in outputs for pair in iter_case_outputs(path, cases)]
    n_winners = sum(placed.label.winner is not None for placed in located)
    if 0 < n_winners < len(located):
        raise SettingsError(
            f"{labels}: {n_winners} of {len(located)} labels name a winner, the others a score",
            hint="pairs and single outputs are measured apart: give one file for each",
        )
    every = _own_pairs(answers) if n_winners else [Item(case, (out,)) for case, out in answers]
    named = {(placed.label.case_id, placed.label.variant) for placed in located}
    # An item without a label would be paid for in vain.
    items = tuple(one for one in every if not named.isdisjoint({one.key[:2], (one.case.id, None)}))
    note = f"{len(every) - len(items)} items have no label and are not judged"
    note = note if len(items) < len(every) else ""
    return LabelledSet(name="own", rubric=rubric, items=items, labels=located, note=note)


def _own_pairs(answers: Sequence[tuple[jk.Case, jk.Output]]) -> list[Item]:
    sides: defaultdict[str | None, dict[str, tuple[jk.Case, jk.Output]]] = defaultdict(dict)
    for case, output in answers:
        sides[output.variant][case.id] = case, output
    if len(sides) != _PAIR:
        raise SettingsError(
            f"labels with a winner are of two variants, and the outputs have {len(sides)}",
            hint="give the outputs of the two variants that were compared",
        )
    a, b = sides.values()
    return [Item(case, (output, b[name][1])) for name, (case, output) in a.items() if name in b]


def _rows(folder: Path, name: str) -> Iterator[Row]:
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _llmbar(subset: str, name: str, folder: Path) -> LabelledSet:
    rows = [row for row in _rows(folder, "llmbar/pairwise") if row["subset"] == subset]
    items = [
        Item(
            jk.Case(id=row["id"], input=row["input"]),
            (jk.Output(text=row["output_a"]), jk.Output(text=row["output_b"])),
        )
        for row in rows
    ]
    labels = [{"case_id": row["id"], "winner": row["human"].lower()} for row in rows]
    rubric = jk.load_rubric(_RUBRICS / "llmbar.yaml")
    return LabelledSet(name=name, rubric=rubric, items=tuple(items), labels=locate_labels(labels))


def _scores(data: str, name: str, folder: Path) -> LabelledSet:
    """Outputs that several criteria were scored of, each in a file of its own."""
    rubric = jk.load_rubric(_RUBRICS / f"{name}.yaml")
    files = [f"{data}/pointwise_{criterion.name}" for criterion in rubric.criteria]
    return _scored(name, rubric, [row for file in files for row in _rows(folder, file)])


def _stories(name: str, folder: Path) -> LabelledSet:
    """TTCW: stories to one plot, each with 14 yes/no criteria and three experts."""
    texts = {row["doc_id"]: row["output"] for row in _rows(folder, "ttcw/stories")}
    levels = {"levels": [{"value": 0, "name": "no"}, {"value": 1, "name": "yes"}]}
    criteria = [
        {"name": row["criterion"], "question": row["question"], "scoring_guide": row["background"],
         "scale": levels}
        for row in _rows(folder, "ttcw/criteria")
    ]  # fmt: skip
    rows = [
        # Stories to one plot share their input, and are one case.
        {**row, "doc_id": f"plot-{row['doc_id'].partition('_')[0]}", "output": texts[row["doc_id"]]}
        for row in _rows(folder, "ttcw/pointwise")
        if texts[row["doc_id"]] is not None
    ]
    rubric = jk.Rubric.model_validate({"name": name, "criteria": criteria})
    n_missing = sum(text is None for text in texts.values())
    note = f"{n_missing} stories have no text and are left out"
    return replace(_scored(name, rubric, rows), note=note)


def _scored(name: str, rubric: jk.Rubric, rows: Sequence[Row]) -> LabelledSet:
    items: dict[tuple[str, str], Item] = {}
    labels: list[Row] = []
    for row in rows:
        # Outputs of one document or dialogue are one case, by which intervals are clustered.
        place = row["doc_id"], row["system_id"]
        case = jk.Case(id=place[0], input=row["input"], context=row.get("context"))
        output = jk.Output(case_id=place[0], variant=place[1], text=row["output"])
        items.setdefault(place, Item(case, (output,)))
        labels += [
            {"case_id": place[0], "variant": place[1], "criterion": row["criterion"],
             "annotator": f"annotator {number}", "raw": raw}
            for number, raw in enumerate(row["human"], start=1)
            if raw is not None
        ]  # fmt: skip
    return LabelledSet(
        name=name, rubric=rubric, items=tuple(items.values()), labels=locate_labels(labels)
    )


PUBLIC_SETS: Mapping[str, Callable[[str, Path], LabelledSet]] = {
    **{f"llmbar/{subset.lower()}": partial(_llmbar, subset)
       for subset in ("Natural", "Neighbor", "GPTInst", "GPTOut", "Manual")},
    "summeval": partial(_scores, "summeval_llm"),
    "topical-chat": partial(_scores, "topical_chat"),
    "ttcw": _stories,
}  # fmt: skip
"""Every public set by its name, with what reads it from the folder of the data."""
