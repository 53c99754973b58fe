from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import DatasetError
from judgekit.public_data.converters import CONVERTERS
from judgekit.public_data.download import judgekit_files
from judgekit.public_data.sources import SourceTree

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def tree_of(folder: Path, *repositories: Mapping[str, object]) -> SourceTree:
    """A tree of made files; values other than texts are written as JSON."""
    folders, names = {}, {}
    for at, files in enumerate(repositories):
        name = "i-Eval/FairEval" if at else "someone/main"
        for path, value in files.items():
            place = folder / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(value if isinstance(value, str) else json.dumps(value))
        folders[name], names[name] = folder / name, tuple(files)
    return SourceTree(folders, names)


def converted(name: str, tree: SourceTree) -> dict[str, list[Any]]:
    return {stem: list(rows) for stem, rows in CONVERTERS[name](tree).items()}


def own(joined: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return dict(judgekit_files(joined, instrument="made"))


def llmbar_files() -> dict[str, object]:
    said = {"completion": ["Output (a)", "stop"], "winner": "1"}
    unread = {"completion": ["", "stop"], "winner": "None"}
    files: dict[str, object] = {}
    for folder in ("Natural", *(f"Adversarial/{n}" for n in ("Neighbor", "GPTInst", "GPTOut"))):
        files[f"Dataset/LLMBar/{folder}/dataset.json"] = []
    pair = {"input": "i", "output_1": "x", "output_2": "y", "label": 2}
    files["Dataset/LLMBar/Adversarial/Manual/dataset.json"] = [pair]
    for name in list(files):
        result = {"results": [{"swap = False": said, "swap = True": unread}]}
        rows = [result] if "Manual" in name else []
        for model in ("ChatGPT", "GPT-4", "LLaMA2", "PaLM2"):
            for style in ("CoT", "Vanilla", "Vanilla_NoRules"):
                place = name.replace("dataset.json", f"evaluators/{model}/{style}/result.json")
                files[place] = rows
    return files


def test_llmbar_keeps_the_authors_reading_and_what_they_could_not_read(tmp_path: Path) -> None:
    (row,) = converted("llmbar", tree_of(tmp_path, llmbar_files()))["pairwise"]
    assert (row["id"], row["human"], row["output_b"]) == ("Manual_000", "B", "y")
    assert row["judge"]["GPT-4/CoT"] == {"ab": "Output (a)", "ba": ""}
    assert row["judge_parsed"]["GPT-4/CoT"] == {"ab": "A", "ba": None}
    files = own({"pairwise": [row]})
    assert files["pairwise.labels.jsonl"][0]["winner"] == "b"
    assert files["pairwise.replies.GPT-4_CoT.jsonl"][0]["order"] == "ab"
    assert files["pairwise.cases.jsonl"][0]["metadata"] == {"subset": "Manual"}
    (rubric,) = files["pairwise.rubric.json"]
    assert [one["name"] for one in rubric["criteria"]] == ["quality"]


def test_labels_of_annotators_keep_the_order_they_are_met_in(tmp_path: Path) -> None:
    people = {"2": {"b": "X"}, "1": {"b": "Y", "a": "X"}}
    files = {
        "data/w/human_annotations.json": people,
        "data/w/llm_annotations.json": {"m": {"a": "X"}},
    }
    rows = converted("alttest", tree_of(tmp_path, files))["w"]
    assert [row["id"] for row in rows] == ["b", "a"]
    assert rows[0]["human"] == {"1": "Y", "2": "X"}
    assert [row["judge_parsed"] for row in rows] == [{"m": None}, {"m": "X"}]
    forms = own({"w": rows})
    (rubric,) = forms["w.rubric.json"]
    levels = rubric["criteria"][0]["scale"]["levels"]
    assert levels == [{"value": 0, "name": "X"}, {"value": 1, "name": "Y"}], "a level a category"
    assert forms["w.labels.jsonl"][0] == {"case_id": "b", "annotator": "1", "raw": "Y"}
    assert forms["w.results.m.jsonl"] == [
        {"case_id": "b", "raw": None}, {"case_id": "a", "raw": "X"},
    ]  # fmt: skip
    for row in rows:
        row["human"], row["judge_parsed"] = dict.fromkeys(row["human"], 4), {"m": 5}
    forms = own({"w": rows})
    assert len(forms["w.labels.jsonl"]) == 3
    assert "w.rubric.json" not in forms, "scores tell their scale"


def test_topical_chat_joins_styles_that_lack_an_answer(tmp_path: Path) -> None:
    base = {"source": "s", "system_id": "v", "system_output": "o", "context": "c",
            "scores": {"engagingness": 2.5, "naturalness": 1.0}}  # fmt: skip
    said = [{**base, "all_responses": ["Rating: 3", "none"]}]
    files: dict[str, object] = {"data/topical_chat.json": [base]}
    for short in ("eng", "nat"):
        for style in ("analyze_rate", "geval", "rate_explain"):
            name = f"results/topical_chat/gpt3.5_{short}_{style}.json"
            files[name] = [] if style == "geval" else said
    found = converted("topical_chat", tree_of(tmp_path, files))
    (row,) = found["pointwise_engagingness"]
    assert row["judge_parsed"]["gpt-3.5/rate_explain"] == [3.0, None]
    assert "gpt-3.5/geval" not in row["judge"]
    labels = own(found)["pointwise_engagingness.labels.jsonl"]
    assert labels == [{"case_id": "dialogue_00", "variant": "v", "criterion": "engagingness",
                       "annotator": "mean of 3", "raw": 2.5}]  # fmt: skip


def ttcw_files() -> dict[str, object]:
    root = "Art_or_Artifice"
    verdict = {"story_id": "0_GPT4", "ttcw_idx": 1, "expert_idx": 7, "explanation": "so"}
    votes = [{**verdict, "binary_verdict": said} for said in ("Yes", "No", "Yes")]
    others = [{**one, "story_id": "0_NewYorker"} for one in votes]
    test = {"ttcw_idx": 1, "torrance_dimension": "Fluency", "category": "Ending",
            "question": "Earned?", "full_prompt": "p"}  # fmt: skip
    story = {"story_id": "0_GPT4", "story_name": "t", "plot": "p", "content": "Once."}
    magazine = {**story, "story_id": "0_NewYorker", "content": "https://www.example.org/x"}
    return {
        f"{root}/tests/ttcw_all_tests.json": [test],
        f"{root}/stories/ttcw_short_stories.json": [magazine, story],
        f"{root}/annotations/ttcw_annotations.json": [*votes, *others],
        f"{root}/data/annotations_m.jsonl": lines({"id": "story_0_GPT4_test1", "response": "Yes"}),
    }


def test_stories_of_a_magazine_have_labels_but_no_text(tmp_path: Path) -> None:
    found = converted("ttcw", tree_of(tmp_path, ttcw_files()))
    ours, theirs = found["pointwise"]
    assert (ours["human"], ours["human_mean"]) == ([1, 0, 1], 0.6666666667)
    assert (ours["judge_parsed"], theirs["judge"]) == ({"m": [1]}, {})
    assert [row["output"] for row in found["stories"]] == [None, "Once."]
    files = own(found)
    assert [row["text"] for row in files["pointwise.outputs.jsonl"]] == ["Once."]
    assert len(files["pointwise.labels.jsonl"]) == 6, "what has no text was judged all the same"
    assert [row["case_id"] for row in files["pointwise.replies.m.jsonl"]] == ["0_GPT4"]
    (rubric,) = files["pointwise.rubric.json"]
    assert rubric["criteria"][0]["question"] == "Earned?"


def test_reviews_are_joined_to_what_they_review_and_to_labels(tmp_path: Path) -> None:
    review = {
        "question_id": 1,
        "answer1_id": "x",
        "answer2_id": "y",
        "text": "9 8",
        "score": [9, 8],
    }
    main: dict[str, object] = {
        "eval/table/question.jsonl": lines({"question_id": 1, "text": "q", "category": "c"}),
        "eval/table/answer/answer_1.jsonl": lines({"answer_id": "x", "model_id": "a", "text": "1"},
                                                  {"answer_id": "y", "model_id": "b", "text": "2"}),
        "eval/table/review/v/review_gpt35_vicuna-13b.jsonl": lines(review),
    }  # fmt: skip
    name = "review/review_gpt35_vicuna-13b_human.txt"
    found = converted("vicuna", tree_of(tmp_path, main, {name: "TIE\n"}))
    (row,) = found["pairwise_gpt35_vicuna13b"]
    assert (row["human"], row["output_b"], row["system_a"]) == ("tie", "2", "a")
    assert found["pairwise_all_models"][0]["judge_parsed"] == {"gpt-4-0328": {"ab": [9.0, 8.0]}}
    replies = own(found)["pairwise_all_models.replies.gpt-4-0328.jsonl"]
    assert replies[0]["variant"] == "a vs b", "without outputs the replies name both"
    with pytest.raises(DatasetError, match="has 2 labels for 1 reviews"):
        converted("vicuna", tree_of(tmp_path / "more", main, {name: "TIE\nTIE\n"}))


def test_a_prompt_is_taken_apart_and_its_samples_kept(tmp_path: Path) -> None:
    prompt = (
        "###The instruction to evaluate:\nDo it.\n\n###Response to evaluate:\nDone.\n\n"
        "###Reference Answer (Score 5):\nBest.\n\n###Score Rubrics:\n[…]"
    )
    row = {"idx": 83, "response_source": "m", "category": "c", "instruction": prompt,
           "gpt4_score": "[3, 2]", "gpt4_feedback": "['fair', 'poor']"}  # fmt: skip
    name = "eval/benchmark/data/mt_bench_eval.json"
    found = converted("prometheus", tree_of(tmp_path, {name: [row]}))
    (joined,) = found["mt_bench_eval"]
    assert joined["judge"]["gpt-4"][1] == "Feedback: poor [RESULT] 2"
    files = own(found)
    case = {"id": "83", "input": "Do it.", "reference": "Best."}
    assert files["mt_bench_eval.cases.jsonl"] == [case]
    assert files["mt_bench_eval.outputs.jsonl"][0]["text"] == "Done."
    for wrong in ("[3, ", "3"):
        tree = tree_of(tmp_path / "wrong", {name: [{**row, "gpt4_score": wrong}]})
        with pytest.raises(DatasetError, match="list"):
            converted("prometheus", tree)


def test_nothing_comes_of_no_rows() -> None:
    assert own({"pairwise": []}) == {}


def test_pairs_without_words_are_no_cases() -> None:
    assert own({"pairwise": [{"id": "x", "system_a": "a", "system_b": "b"}]}) == {}


def test_a_leaderboard_stands_beside_its_preferences(tmp_path: Path) -> None:
    pair = {"generator_1": "base", "generator_2": "new", "preference": 1.5,
            "output_1": "xx", "output_2": "y"}  # fmt: skip
    figures = "length_controlled_winrate,n_draws,n_total,n_wins,n_wins_base,standard_error,win_rate"
    board = f",{figures}\nnew,1,2,3,4,5,6,7\n"
    files = {
        "results/new/j/annotations.json": [pair],
        "src/alpaca_eval/leaderboards/d/j_leaderboard.csv": board,
    }
    (row,) = converted("alpaca", tree_of(tmp_path, files))["preferences"]
    assert (row["id"], row["len_a"], row["published"]["win_rate"]) == ("j__new", [2], 7.0)
    row["preference"] = [1.5, 1, 1.75, 0, None]
    (rows,) = own({"preferences": [row]}).values()
    winners = [(one["winner"], one.get("probability")) for one in rows]
    assert winners == [("tie", 0.5), ("a", 1), ("b", 0.25), ("tie", 0.5), (None, None)]


def test_summeval_joins_what_was_said_one_by_one_and_in_pairs(tmp_path: Path) -> None:
    rater = {"coherence": 4, "consistency": 5}
    files: dict[str, object] = {}
    systems = ["M8", "M9", "M10", "M11", "M12", "M13", "M14", "M15", "M17", "M20", "M22", "M23"]
    said = {"mcq": "D", "rts": "a score of 4.", "stareval": "4 stars"}
    for system in systems:
        row = {"id": "d", "model_id": system, "text": "t", "decoded": system,
               "expert_annotations": [rater], "turker_annotations": [rater]}  # fmt: skip
        files[f"model_output_annotations/{system}_outputs_annotations.jsonl"] = lines(row)
        for model in ("gpt-3.5-turbo-0301", "gpt-4-0314", "llama-2-70b-chat-hf"):
            for style, text in said.items():
                for name in ("coherence", "consistency"):
                    place = f"{model}/eval_{system}_generations/{name}_{style}.txt"
                    files[f"eval_model_generations/{place}"] = lines({"id": "d", "resp": text})
    order = ["M22", "M23", "M17", "M12", "M13", "M15", "M14", "M8", "M9", "M10", "M20", "M11"]
    for a, b in pairwise(order):
        for name in ("coherence", "consistency"):
            for ending in ("", "_toggle"):
                place = f"comp_res/gpt-3.5-turbo-0301/{a}-{b}_{name}{ending}.result"
                scores = {"human_score_1": 1, "human_score_2": 2}
                files[place] = lines({"id": "d", "resp": "A", **scores})
    found = converted("summeval", tree_of(tmp_path, files))
    assert len(found["pointwise_coherence"]) == 12
    assert {tuple(one) for one in found["pointwise_coherence"][0]["judge_parsed"].values()} == {
        (4.0,)
    }
    forms = own(found)
    key = {"case_id": "d", "variant": "M8", "criterion": "coherence"}
    assert forms["pointwise_coherence.labels.crowd.jsonl"][0] == {
        **key, "annotator": "worker 1", "raw": 4,
    }  # fmt: skip
    assert forms["pointwise_coherence.results.crowd.jsonl"][0] == {**key, "repeat": 0, "raw": 4}
    pair = found["pairwise_consistency"][0]
    assert (pair["id"], pair["human"]) == ("d__M22__M23__consistency", "B")
    assert [*pair["judge_parsed"].values()] == [{"ab": "A", "ba": "B"}]


@pytest.mark.parametrize("text", ["{", '{"a": 1}\n3\n', "[1]"])
def test_a_file_that_is_no_list_of_objects_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DatasetError, match="is no"):
        tree_of(tmp_path, {"a.json": text}).objects("a.json")


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"b\.json: cannot be read"):
        tree_of(tmp_path, {"a.json": "[]"}).text("b.json")
