"""The prompt benchmark: known judges give known cells, and nothing is paid for twice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import judgekit as jk
from benchmarks.prompts.__main__ import parser, run
from benchmarks.prompts.sets import PUBLIC_SETS, Item, LabelledSet, own_set, part_of, public_set
from judgekit.errors import JudgekitError, ModelError, SettingsError
from judgekit.models.request import ModelReply
from judgekit.records import Usage
from judgekit.report.numbers import format_rate
from judgekit.stats.intervals import pooled_proportion
from judgekit.testing import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from judgekit.models.request import ModelRequest

CHOOSING = [name for n in range(40) if part_of(name := f"c{n}") == "choosing"]
HELD_OUT = [name for n in range(40) if part_of(name := f"c{n}") == "held_out"]
RUBRIC = """name: r
criteria:
  - {name: clear, question: Is it clear?, scale: {min: 1, max: 5, integer: true}}
  - {name: right, question: Is it right?, scale: {min: 1, max: 5, integer: true}}
"""
LLMBAR = ("--template", "pairwise/llmbar")
# The place that the judge chooses with a shown first, and with b shown first, by the label.
CHOICES = {"a": [("a", "b"), ("a", "a")], "b": [("b", "a"), ("a", "a")]}


def write_lines(path: str, rows: list[dict[str, object]]) -> None:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four labelled pairs in each part."""
    monkeypatch.chdir(tmp_path)
    Path("rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    cases = [*CHOOSING[:4], *HELD_OUT[:4]]
    write_lines("outputs.jsonl", [
        {"case_id": case, "variant": variant, "input": "?", "text": f"{case} by {variant}"}
        for case in cases for variant in ("old", "new")
    ])  # fmt: skip
    winners = ["a", "a", "b", "b"] * 2
    write_lines("labels.jsonl", [
        {"case_id": case, "winner": winner} for case, winner in zip(cases, winners, strict=True)
    ])  # fmt: skip


def measured(
    model: jk.ScriptedModel,
    *more: str,
    labels: str = "labels.jsonl",
    outputs: str = "outputs.jsonl",
) -> int:
    files = ["--labels", labels, "--outputs", outputs, "--rubric", "rubric.yaml"]
    return run(parser().parse_args(["--judge", "scripted", *files, *more]), model)


def stated(place: str) -> ModelReply:
    usage = Usage(input_tokens=100, output_tokens=7)
    text = f"It is better in two ways. Therefore, Output ({place}) is better."
    return ModelReply(text=text, usage=usage, cost_usd=0.01, finish_reason="stop")


def by_place(places: Mapping[str, tuple[str, str]]) -> Callable[[ModelRequest], ModelReply]:
    """A judge by the case and the order in which it sees the outputs."""
    return lambda request: stated(
        places[str(request.subject.case_id)][0 if request.subject.order == "ab" else 1]
    )


PLACES = dict(zip(CHOOSING[:4], CHOICES["a"] + CHOICES["b"], strict=True))


def table(text: str, title: str) -> list[dict[str, str]]:
    """The rows of a Markdown table; figures without their intervals."""
    found = text.partition(title)[2].partition("\n\n")[2].partition("\n\n")[0]
    lines = found.replace("\\", "").splitlines()
    rows = [[cell.strip().partition(" [")[0] for cell in line.split("|")[1:-1]] for line in lines]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def test_a_judge_with_known_choices_gives_a_known_cell(capsys: pytest.CaptureFixture[str]) -> None:
    model = ScriptedModel(by_place(PLACES))
    assert measured(model, *LLMBAR) == 0
    told = capsys.readouterr().out
    (agreement,) = table(told, "agreement with human labels")
    # Right with a first: three; with b first: three; the second and the fourth follow the place.
    assert agreement == {
        "template": "pairwise/llmbar", "n": "4", "open": "0",
        "a first": "75 %", "b first": "75 %", "both": "50 %", "averaged": "50 %",
    }  # fmt: skip
    (habits,) = table(told, "habits and replies")
    assert habits == {
        "template": "pairwise/llmbar", "ties": "0 %", "flips": "50 %", "first place": "75 %",
        "unusable": "0 %", "evidence found": "–", "prompt": "200", "reply": "14",
        "price per right": "$0.04",
    }  # fmt: skip
    assert (len(model.requests), "part choosing" in told) == (8, True)


def test_intervals_are_clustered_by_case(capsys: pytest.CaptureFixture[str]) -> None:
    measured(ScriptedModel(by_place(PLACES)), *LLMBAR)
    expected = format_rate(pooled_proportion([1, 0, 1, 0], CHOOSING[:4]))
    assert f" {expected} |" in capsys.readouterr().out.replace("\\", "")


def test_ties_and_unusable_replies_are_counted_and_are_not_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def say(request: ModelRequest) -> str:
        first, case = request.subject.order == "ab", request.subject.case_id
        if case == CHOOSING[0]:
            return "Both are equally good in all that counts. [[C]]"
        if case == CHOOSING[1]:
            return "The first one is the better one. [[A]]" if first else "I do not know which."
        return "The other one is the better one here. " + ("[[B]]" if first else "[[A]]")

    measured(ScriptedModel(say), "--template", "pairwise/mt_bench")
    told = capsys.readouterr().out
    (agreement,) = table(told, "agreement with human labels")
    right = [agreement[name] for name in ("a first", "b first", "both", "averaged")]
    assert right == ["75 %", "50 %", "50 %", "50 %"]
    (habits,) = table(told, "habits and replies")
    # Two ties of seven usable choices; one of eight replies is unusable, and its pair flips.
    assert [habits[n] for n in ("ties", "unusable", "flips")] == ["29 %", "12 %", "25 %"]


def test_templates_are_compared_on_the_same_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    always_right = dict(zip(CHOOSING[:4], [("a", "b")] * 2 + [("b", "a")] * 2, strict=True))

    def say(request: ModelRequest) -> ModelReply:
        is_short = "nothing else" in str(request.messages[-1]["content"])
        return by_place(always_right if is_short else PLACES)(request)

    measured(ScriptedModel(say), *LLMBAR, "pairwise/llmbar_vanilla")
    (row,) = table(capsys.readouterr().out, "more than pairwise/llmbar,")
    found = {name: row[name] for name in ("template", "n", "single", "both", "averaged")}
    assert found == {
        "template": "pairwise/llmbar_vanilla", "n": "4", "single": "+25 %", "both": "+50 %",
        "averaged": "+50 %",
    }  # fmt: skip


@pytest.mark.parametrize("n_before", [1, 5, 7])
def test_a_killed_benchmark_continues_and_pays_nothing_twice(
    n_before: int, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ScriptedModel("")
    paid: list[str] = []

    def say(request: ModelRequest) -> ModelReply:
        if len(paid) == n_before and len(model.requests) == n_before + 1:
            raise KeyboardInterrupt
        paid.append(request.key)
        return by_place(PLACES)(request)

    model = ScriptedModel(say)
    with pytest.raises(KeyboardInterrupt):
        measured(model, *LLMBAR, "-j", "1")
    assert measured(model, *LLMBAR, "--report") == 0
    assert len(paid) == n_before, "a report asks nothing"
    partial = table(capsys.readouterr().out, "agreement with human labels")
    assert [row["open"] for row in partial] in ([], [str(4 - n_before // 2)])
    assert measured(model, *LLMBAR, "-j", "1") == 0
    assert (len(paid), len(set(paid))) == (8, 8)
    (row,) = table(capsys.readouterr().out, "agreement with human labels")
    assert (row["n"], row["averaged"]) == ("4", "50 %")


@pytest.mark.parametrize("template", ["pairwise/llmbar", "pairwise/joint"])
def test_a_reply_that_was_cut_off_is_unusable_and_not_paid_for_again(
    template: str, capsys: pytest.CaptureFixture[str]
) -> None:
    part = {"evidence_first": [], "evidence_second": [], "rationale": "It is better.",
            "score_first": 9, "score_second": 1, "preference": "first", "confidence": 1,
            "assessable": True}  # fmt: skip
    whole = json.dumps({"criteria": {"clear": part, "right": part}, "overall": part})
    text = stated("a").text if template == "pairwise/llmbar" else whole

    def say(request: ModelRequest) -> ModelReply:
        is_cut = (request.subject.case_id, request.subject.order) == (CHOOSING[0], "ab")
        return ModelReply(text=str(text)[:20] if is_cut else text,
                          finish_reason="length" if is_cut else "stop")  # fmt: skip

    model = ScriptedModel(say)
    for _ in range(2):
        assert measured(model, "--template", template) == 0
        (habits,) = table(capsys.readouterr().out, "habits and replies")
        # One of eight replies, of a joint one all its parts.
        assert (habits["unusable"], len(model.requests)) == ("12 %", 8)


def test_a_judge_that_is_not_there_leaves_items_open(capsys: pytest.CaptureFixture[str]) -> None:
    down = ModelError("no connection", provider="x", kind="connection")
    with pytest.raises(JudgekitError, match="nothing could be judged"):
        measured(ScriptedModel(down), *LLMBAR)

    def say(request: ModelRequest) -> ModelReply | Exception:
        return down if request.subject.case_id == CHOOSING[1] else stated("a")

    assert measured(ScriptedModel(say), *LLMBAR) == 3
    (row,) = table(capsys.readouterr().out, "agreement with human labels")
    assert (row["n"], row["open"]) == ("3", "1")


def test_scores_have_rank_correlation_agreement_and_use_of_the_scale(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cases, scores = CHOOSING[:5], [1, 2, 3, 4, 5]
    outputs: list[dict[str, object]] = [
        {"case_id": case, "input": "?", "text": f"answer of {case}"} for case in cases
    ]
    write_lines("graded.jsonl", outputs)
    write_lines("scores.jsonl", [
        {"case_id": case, "criterion": name, "annotator": "Ada", "raw": score}
        for case, score in zip(cases, scores, strict=True) for name in ("clear", "right")
    ])  # fmt: skip
    judged = {"clear": dict(zip(cases, scores, strict=True)), "right": dict.fromkeys(cases, 3)}
    judged["right"][cases[0]] = 4

    def say(request: ModelRequest) -> ModelReply:
        name, case = str(request.subject.criterion), str(request.subject.case_id)
        text = f"Score: {judged[name][case]}"
        return ModelReply(text=text, usage=Usage(input_tokens=50, output_tokens=3))

    files = {"labels": "scores.jsonl", "outputs": "graded.jsonl"}
    measured(ScriptedModel(say), "--template", "pointwise/score_only", **files)
    told = capsys.readouterr().out
    clear, right = table(told, "agreement with human labels")
    assert [clear[n] for n in ("rho", "kappa", "exact", "spread", "levels used")] == [
        "1.00", "1.00", "100 %", "1.00", "5",
    ]  # fmt: skip
    # Ranks 5, 2.5, 2.5, 2.5, 2.5 against 1 to 5: -5 / sqrt(10 * 5).
    assert [right[n] for n in ("rho", "exact", "levels used", "commonest")] == [
        "-0.71", "20 %", "2", "80 %",
    ]  # fmt: skip
    (replies,) = table(told, "habits and replies")
    assert (replies["prompt"], replies["reply"]) == ("100", "6"), "both criteria of an output"


def test_a_joint_reply_counts_once_and_unknown_tokens_are_not_zero(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_lines("graded.jsonl", [
        {"case_id": case, "input": "?", "text": "It is good."} for case in CHOOSING[:4]
    ])  # fmt: skip
    write_lines("scores.jsonl", [
        {"case_id": case, "criterion": "clear", "raw": raw}
        for raw, case in enumerate(CHOOSING[:4], start=1)
    ])  # fmt: skip
    part = {"evidence": ["It is good", "not there"], "rationale": "It is so.", "score": 3,
            "confidence": 0.5, "assessable": True}  # fmt: skip

    def say(request: ModelRequest) -> ModelReply:
        is_first = request.subject.case_id == CHOOSING[0]
        usage = None if is_first else Usage(input_tokens=50, output_tokens=9)
        return ModelReply(
            text=json.dumps({"criteria": {"clear": part, "right": part}}), usage=usage
        )

    files = {"labels": "scores.jsonl", "outputs": "graded.jsonl"}
    measured(ScriptedModel(say), "--template", "pointwise/joint", **files)
    (replies,) = table(capsys.readouterr().out, "habits and replies")
    assert [replies[n] for n in ("prompt", "reply", "evidence found", "price per right")] == [
        "50", "9", "50 %", "price unknown",
    ]  # fmt: skip


def test_the_split_is_by_case_and_the_same_everywhere() -> None:
    names = ("Natural_000", "Natural_001", "plot-3", "plot-4")
    assert [part_of(name) for name in names] == [
        "choosing", "held_out", "held_out", "choosing",
    ]  # fmt: skip
    items = tuple(
        Item(jk.Case(id=f"c{n}", input="?"), (jk.Output(variant=variant, text="x"),))
        for n in range(20)
        for variant in ("old", "new")
    )
    rubric = jk.load_rubric("rubric.yaml")
    whole = LabelledSet(name="s", rubric=rubric, items=items, labels=[])
    parts = whole.take("choosing").items, whole.take("held_out").items
    assert sorted(item.name for part in parts for item in part) == sorted(i.name for i in items)
    assert not {item.case.id for item in parts[0]} & {item.case.id for item in parts[1]}
    assert whole.take("choosing", 5).items == parts[0][:5], "more items are only added"


def test_each_view_of_the_held_out_part_is_written_down(capsys: pytest.CaptureFixture[str]) -> None:
    model = ScriptedModel(stated("a"))
    for n_looks in (1, 2):
        measured(model, *LLMBAR, "--held-out")
        told = capsys.readouterr().out
        assert f"part held\\_out; intervals of 95 %, clustered by case; viewed {n_looks}" in told
    assert {request.subject.case_id for request in model.requests} == set(HELD_OUT[:4])
    lines = Path(".judgekit/prompts/held_out.jsonl").read_text(encoding="utf-8").splitlines()
    looks = [json.loads(line) for line in lines]
    of = ("scripted", [["own", "pairwise/llmbar"]])
    assert [(look["judge"], look["cells"]) for look in looks] == [of, of]


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--template", "pointwise/joint"], "own has pairs, which pointwise/joint does not judge"),
        (["--set", "ttcw"], "--labels needs --outputs and --rubric, and no --set"),
        (["--template", "pairwise/letter"], "by criteria only, and the rubric has several"),
    ],
)
def test_what_does_not_belong_together_is_refused(more: list[str], problem: str) -> None:
    choice = '{"choice": "A"}' if "--set" in more else "A"
    with pytest.raises(SettingsError, match=problem):
        measured(ScriptedModel(choice), *more)


def test_recorded_replies_are_of_one_template() -> None:
    files = ["--labels", "labels.jsonl", "--outputs", "outputs.jsonl", "--rubric", "rubric.yaml"]
    arguments = parser().parse_args(["--judge", "recorded:x.jsonl", *files])
    with pytest.raises(SettingsError, match="of one template"):
        run(arguments, arguments.judges[0])


def test_winners_and_scores_are_not_mixed() -> None:
    write_lines("mixed.jsonl", [{"case_id": "c1", "winner": "a"}, {"case_id": "c2", "raw": 3}])
    with pytest.raises(SettingsError, match="1 of 2 labels name a winner"):
        own_set(Path("mixed.jsonl"), [Path("outputs.jsonl")], jk.load_rubric("rubric.yaml"))


def test_only_what_has_a_label_is_judged(capsys: pytest.CaptureFixture[str]) -> None:
    write_lines("labels.jsonl", [{"case_id": CHOOSING[1], "winner": "new"}])
    model = ScriptedModel(stated("b"))
    measured(model, *LLMBAR)
    told = capsys.readouterr()
    assert {request.subject.case_id for request in model.requests} == {CHOOSING[1]}
    assert "own: 7 items have no label and are not judged" in told.err
    (row,) = table(told.out, "agreement with human labels")
    assert (row["a first"], row["b first"]) == ("100 %", "0 %"), "`new` is b"


def test_a_public_set_needs_the_folder_of_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGEKIT_DATA", raising=False)
    with pytest.raises(SettingsError, match="JUDGEKIT_DATA, which is not set"):
        public_set("ttcw")


# Read at import: tests run without the variable.
FOLDER = os.environ.get("JUDGEKIT_DATA", "")


@pytest.mark.skipif(not FOLDER, reason="JUDGEKIT_DATA names no folder")
def test_every_public_set_has_labels_for_all_its_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGEKIT_DATA", FOLDER)
    sizes = {}
    for name in PUBLIC_SETS:
        found = public_set(name)
        labelled = {(placed.label.case_id, placed.label.variant) for placed in found.labels}
        assert {item.key[:2] for item in found.items} == labelled
        sizes[name] = len(found.take("choosing").items), len(found.take("held_out").items)
    assert sizes == {
        "llmbar/natural": (47, 53), "llmbar/neighbor": (68, 66), "llmbar/gptinst": (51, 41),
        "llmbar/gptout": (23, 24), "llmbar/manual": (19, 27), "summeval": (636, 564),
        "topical-chat": (186, 174), "ttcw": (18, 18),
    }  # fmt: skip
