"""Every figure that `judgekit calibrate` gives of the published sets, by its reference key.

The judges' words are read by judgekit's own templates. Where these read a reply otherwise than
its authors did, the command is given the authors' reading of that reply, and of no other, to come
to their figures; `test_recorded_replies.py` says which replies these are, and why.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.public_data import places
from tests.public_data.door import Told, own, replies, results, rows_in, told, written
from tests.public_data.material import judges_of, rows_of
from tests.public_data.places import at, figures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.public_data.door import Reading
    from tests.public_data.material import Figures, Rows
    from tests.public_data.places import Places

WINNERS = {"A": "a", "B": "b", "tie": "tie", None: None}
TEMPLATES = {
    "mcq": "five_letters", "rts": "reason_then_score", "stareval": "stars", "geval": "score_only",
    "rate_explain": "rate_explain", "analyze_rate": "analyze_rate",
}  # fmt: skip
"""The template of each prompt style that a judge's name ends with."""

PAIR_TEMPLATES = {"CoT": "llmbar", "Vanilla": "llmbar_vanilla", "Vanilla_NoRules": "llmbar_vanilla",
                  "h2h": "letter"}  # fmt: skip


@dataclass(frozen=True)
class Parting:
    """A reply that judgekit reads otherwise than its authors did."""

    reading: Reading
    """The reply."""

    text: str | None
    """What it says; None where there is none, and its authors count one all the same."""

    theirs: Any
    """What they read."""

    ours: Any
    """What judgekit reads."""


@dataclass(frozen=True)
class Judged:
    """One judge of one set: what the command says, and where readings part."""

    told: Told
    """By judgekit's own reading."""

    partings: tuple[Parting, ...]
    """Replies that were read otherwise by their authors."""

    replies: tuple[tuple[str, Any, Any], ...]
    """Of each reply its words, what its authors read, and what judgekit reads."""

    as_theirs: Callable[[], Told]
    """The command once more, with their reading of these replies."""

    @property
    def settled(self) -> dict[str, Any]:
        """The report that is to have the authors' figures."""
        return self.as_theirs().report if self.partings else self.told.report


def judged(name: str, stem: str, judge: str, *options: object) -> Judged:
    """What `judgekit calibrate --judge recorded:… --template …` says of a judge."""
    rows = rows_of(f"{name}/{stem}")
    labels = own(name, f"{stem}.labels.jsonl")
    rubric = ("--rubric", own(name, f"{stem}.rubric.json"))
    said = told(
        labels, *rubric, "--judge", f"recorded:{replies(name, stem, judge)}",
        "--template", template_of(name, judge), *options,
    )  # fmt: skip
    theirs = dict(_theirs(rows, judge))
    partings = tuple(
        Parting(place, text, parsed, said.readings.get(place))
        for place, (text, parsed) in theirs.items()
        if said.readings.get(place) != parsed
    )

    def again() -> Told:
        read = said.readings | {one.reading: one.theirs for one in partings}
        return told(labels, *rubric, "--results", written(_rows(read)), *options)

    words = tuple(
        (text, parsed, said.readings.get(place))
        for place, (text, parsed) in theirs.items()
        if text is not None
    )
    return Judged(said, partings, words, again)


def template_of(name: str, judge: str) -> str:
    """The published template of a judge's prompt."""
    style = judge.rpartition("/")[2]
    if name == "vicuna80":
        return "pairwise/fair_eval"
    if style in PAIR_TEMPLATES:
        return f"pairwise/{PAIR_TEMPLATES[style]}"
    by_set = {"ttcw": "yes_no", "prometheus_rubric": "prometheus"}
    return f"pointwise/{by_set.get(name) or TEMPLATES[style]}"


def summeval(criterion: str, authors: Callable[[str], float | None]) -> Figures:
    """Every figure of one criterion of SummEval, by `judge/statistic`."""
    name, stem = "summeval_llm", f"pointwise_{criterion}"
    rows = rows_of(f"{name}/{stem}")
    found: Figures = {}
    for judge in judges_of(rows):
        report = judged(name, stem, judge).settled
        mine = figures(report, places.SCORES | places.LEVELS)
        if judge.endswith("/rts") and not judge.startswith("llama"):
            mine |= _authors(name, stem, judge, authors, _POOLED)
        found |= under(judge, mine)
        found |= under("experts", figures(report, places.PEOPLE))
    files = {kind: own(name, f"{stem}.{kind}.crowd.jsonl") for kind in ("labels", "results")}
    rubric = ("--rubric", own(name, f"{stem}.rubric.json"), "--results", files["results"])
    crowd = told(files["labels"], *rubric).report
    found |= under("crowd", figures(crowd, {"alpha_ordinal": places.PEOPLE["alpha_ordinal"]}))
    met = told(own(name, f"{stem}.labels.jsonl"), *rubric).report
    spearman = places.SCORES["pooled_spearman"]
    return found | under("crowd_mean", figures(met, {"pooled_spearman_with_experts": spearman}))


def topical(criterion: str, authors: Callable[[str], float | None]) -> Figures:
    """Every figure of one criterion of Topical-Chat, by `judge/statistic`."""
    name, stem = "topical_chat", f"pointwise_{criterion}"
    found: Figures = {}
    for judge in judges_of(rows_of(f"{name}/{stem}")):
        report = judged(name, stem, judge).settled
        mine = figures(report, places.SCORES | places.REPEATS)
        wanted = ("pooled_pearson", "per_document_kendall")
        mine |= _authors(name, stem, judge, authors, wanted)
        found |= under(judge, mine)
    return found


def subsets() -> list[str]:
    """The subsets of LLMBar."""
    return list(dict.fromkeys(row["subset"] for row in rows_of("llmbar/pairwise")))


def llmbar(subset: str) -> Figures:
    """Every figure of one subset of LLMBar, by `judge/statistic`."""
    found: Figures = {}
    for judge in judges_of(rows_of("llmbar/pairwise")):
        below = f"overall.segments[{subset}]."
        found |= under(judge, figures(of_pairs(judge).settled, places.ORDERS, below))
    return found


def of_pairs(judge: str) -> Judged:
    """One judge of LLMBar."""
    by_subset = ("--by", "subset", "--cases", own("llmbar", "pairwise.cases.jsonl"))
    return judged("llmbar", "pairwise", judge, *by_subset)


def head_to_head(criterion: str) -> Figures:
    """Every figure of SummEval's pairs, by `judge/statistic`."""
    name, stem = "summeval_llm", f"pairwise_{criterion}"
    found: Figures = {}
    for judge in judges_of(rows_of(f"{name}/{stem}")):
        report = judged(name, stem, judge).settled
        found |= under(judge, figures(report, places.ORDERS, "overall."))
    return found


def vicuna() -> Figures:
    """Every figure of the reviews that people labelled, by `judge/statistic`."""
    name, stem, judge = "vicuna80", "pairwise_gpt35_vicuna13b", "gpt-4-0328"
    report = told(
        own(name, f"{stem}.labels.jsonl"),
        "--judge", f"recorded:{replies(name, stem, judge)}",
        "--template", template_of(name, judge),
    ).report  # fmt: skip
    found = figures(report, places.ONE_ORDER, "overall.")
    table = at(report, "overall.confusion")
    sides = {1.0: "A", 0.5: "tie", 0.0: "B"}
    counts = {
        "human": [sum(row) for row in table["counts"]],
        judge: [sum(column) for column in zip(*table["counts"], strict=True)],
    }
    labels = {
        f"{who}/labels": {
            "value": {sides[level]: n for level, n in zip(table["levels"], by, strict=True)},
            "n": sum(by),
        }
        for who, by in counts.items()
    }
    return under(judge, found) | labels


def confidences() -> Figures:
    """Every figure of judges that say how sure they are, by `judge/statistic`."""
    name, stem = "judge_confidence", "pairwise"
    found: Figures = {}
    for judge in rows_of(f"{name}/{stem}")[0]["judge_probability"]:
        labels = own(name, f"{stem}.labels.jsonl")
        report = told(labels, "--results", results(name, stem, judge)).report
        found |= under(judge, figures(report, places.CONFIDENCE))
    return found


def annotators(name: str, epsilon: float) -> Figures:
    """Every figure of one data set of the alternative annotator test, by `judge/statistic`."""
    rows = rows_of(f"alttest/{name}")
    rubric = own("alttest", f"{name}.rubric.json")
    options = ("--rubric", rubric, "--categories") if rubric.is_file() else ()
    found: Figures = {}
    for judge in judges_of(rows):
        said = ("--results", results("alttest", name, judge), *options, "--epsilon", epsilon)
        report = told(own("alttest", f"{name}.labels.jsonl"), *said).report
        mine = figures(report, places.STAND_IN)
        policy = {"epsilon": at(report, "options.epsilon")}
        mine["omega"] |= policy | {"scoring": at(report, "overall.stand_in.scoring")}
        if options:
            first = told(_first_majority(rows), *said).report
            mine |= figures(first, places.MAJORITY)
        else:
            mine |= figures(report, places.ANNOTATORS)
        found |= under(judge, mine)
        alphas = ["alpha_nominal"] if options else ["alpha_ordinal", "alpha_interval"]
        own_alphas: Places = {one: places.PEOPLE[one] for one in alphas}
        found |= under("annotators", figures(report, own_alphas))
    return found


_POOLED = tuple(f"pooled_{how}" for how in ("pearson", "spearman", "kendall"))


def _theirs(rows: Rows, judge: str) -> Iterator[tuple[Reading, tuple[str | None, Any]]]:
    """What the authors read of each reply, and its words."""
    for row in rows:
        parsed = row["judge_parsed"].get(judge)
        texts = row["judge"].get(judge)
        if "output_a" in row or "system_a" in row:
            for order, side in (parsed or {}).items():
                pair = (row["id"], None, row.get("criterion"), order, 0)
                yield pair, (texts[order], WINNERS[side])
            continue
        output = (row["doc_id"], row["system_id"], row.get("criterion", "quality"))
        if parsed is None and row["scale"] == [0, 1]:
            yield (*output, None, 0), (None, 0)  # who answered nothing said No, as they count it
        for repeat, (text, score) in enumerate(zip(texts or (), parsed or (), strict=True)):
            yield (*output, None, repeat), (text, score)


def _rows(read: dict[Reading, Any]) -> Iterator[dict[str, Any]]:
    for (case, variant, criterion, order, repeat), value in read.items():
        row: dict[str, Any] = {"case_id": case, "criterion": criterion}
        if order is None:
            yield row | {"variant": variant, "repeat": repeat, "raw": value}
        else:
            yield row | {"order": order, "winner": value}


def _authors(
    name: str, stem: str, judge: str, reader: Callable[[str], float | None], wanted: Iterable[str]
) -> Figures:
    """Figures by another reading of the same words, handed in as `--results`."""
    rows = rows_in(replies(name, stem, judge))
    one = judged(name, stem, judge)
    read: dict[Reading, Any] = {
        (row["case_id"], row["variant"], row["criterion"], None, row["repeat"]): reader(row["text"])
        for row in rows
    }
    report = one.told.report
    if read != one.told.readings:
        rubric = own(name, f"{stem}.rubric.json")
        labels = own(name, f"{stem}.labels.jsonl")
        report = told(labels, "--rubric", rubric, "--results", written(_rows(read))).report
    found = figures(report, {one: places.SCORES[one] for one in wanted})
    return {f"authors_reading_{one}": figure for one, figure in found.items()}


def _first_majority(rows: Rows) -> Any:
    """The majority as one annotator; of a tied vote the label met first."""
    return written(
        {
            "case_id": row["id"],
            "annotator": "majority",
            "raw": Counter(row["human"].values()).most_common(1)[0][0],
        }
        for row in rows
    )


def under(prefix: str, found: Figures) -> Figures:
    """The figures with a prefix before their names."""
    return {f"{prefix}/{name}": figure for name, figure in found.items()}
