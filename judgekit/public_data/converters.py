"""Joins the files of each public dataset into rows, with one converter for each dataset.

Scores and choices are read from judges' replies in the way the authors of each dataset did. Where
their code misreads replies, a comment states how, and what is done here instead.
"""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from judgekit.public_data.sources import SourceTree
    from judgekit.records import JsonObject

_WORDS = ("one", "two", "three", "four", "five")
_WORD = "|".join(_WORDS)
_LABELLED = re.compile(rf"score:\s*(?:(?P<number>[1-5](?:\.\d)?)|(?P<word>{_WORD}))")
_NEAR = re.compile(r"scor(?:e|ing)[^.]+?[1-5](?:\.\d)?")
_NEAR_WORD = re.compile(rf"scor(?:e|ing)[^.]+\s({_WORD})[\s.,]")
_LAST = re.compile(r"[1-5](?:\.\d\s)?(?:out of [1-5])?")
_DIGIT = re.compile(r"[1-5](?:\.[1-5])?")
_STAR = re.compile(r"(\S+)\sstar")
_BARE = re.compile(r"([1-5]\.[0-9])\W*\Z")
_RATING = re.compile(r"[0-9](?:\.[0-9]+)?")
_LETTER = re.compile(r"summary ([abc])|\A([abc])[\s.:]", re.IGNORECASE)


def parse_sentence_score(text: str) -> float | None:
    """The score a sentence about a summary states, as its authors read it."""
    # Theirs takes the last digit where no word `score` is near, so "a 4 out of 5" counts as 5. A
    # bare closing "4.5" stays 4.5 here; theirs makes 5 of it.
    low = text.lower()
    for found in sorted(_LABELLED.finditer(low), key=lambda hit: hit["number"] is None)[:1]:
        return float(found["number"] or _WORDS.index(found["word"]) + 1)
    if near := _NEAR.search(low):
        return _first_digit(near.group())
    if near := _NEAR_WORD.search(low):
        word = re.search(_WORD, near.group())
        return None if word is None else float(_WORDS.index(word.group()) + 1)
    if bare := _BARE.search(low):
        return float(bare.group(1))
    last = _LAST.findall(low)
    return _first_digit(last[-1]) if last else None


def parse_stars(text: str) -> float | None:
    """The number before the first `star`."""
    found = _STAR.search(text.lower())
    if found is None:
        return None
    word = found.group(1)
    if word in _WORDS:
        return float(_WORDS.index(word) + 1)
    try:
        return float(word)
    except ValueError:
        return None


def parse_rating(text: str) -> float | None:
    """The first number behind the last `Rating:`, or of the whole; `1-3` is a scale."""
    # The authors cut decimals and count an unreadable reply as 0; decimals are kept here.
    low = text.lower().replace("1-3", " ").rsplit("rating:", 1)[-1]
    found = _RATING.search(low)
    return None if found is None else float(found.group())


def opens_with_yes(text: str) -> int:
    # Anything else counts as No, a blocked answer too, as its authors count it.
    return int(text.strip().lower().startswith("yes"))


def parse_letter(text: str) -> str:
    """The option an answer chooses: alone, behind `summary`, or opening it."""
    bare = text.strip()
    if len(bare) != 1 and (found := _LETTER.search(bare)):
        bare = found.group(1) or found.group(2)
    return bare.upper() if bare.upper() in {"A", "B"} else "C"


def _first_digit(text: str) -> float | None:
    found = _DIGIT.search(text)
    return None if found is None else float(found.group())


# Two datasets number the answers 1 and 2, one as text and one as a number.
_SIDES = {"1": "A", "2": "B"}

# Means are rounded so that the same rows give the same bytes, and so the same checksum.
_DIGITS = 10
_SUMMEVAL_CRITERIA = ("coherence", "consistency")

# The systems for which the authors published judgments; others of SummEval are left out.
_SYSTEMS = tuple(f"M{number}" for number in (8, 9, 10, 11, 12, 13, 14, 15, 17, 20, 22, 23))

# Neighbours in the order of their human scores: the challenge set of the paper.
_BY_SCORE = ("M22", "M23", "M17", "M12", "M13", "M15", "M14", "M8", "M9", "M10", "M20", "M11")
_PAIRS = tuple(pairwise(_BY_SCORE))

_SCORES = "ABCDE"

# Each style of prompt asks for another form of reply, which its authors read in another way.
_CHATGPT = "gpt-3.5-turbo-0301"

_READERS: dict[str, Callable[[str], float | None]] = {
    f"{_CHATGPT}/mcq": lambda text: float(_SCORES.index(text.strip()) + 1),
    f"{_CHATGPT}/rts": parse_sentence_score,
    f"{_CHATGPT}/stareval": parse_stars,
    "gpt-4-0314/rts": parse_sentence_score,
    "llama-2-70b-chat-hf/rts": parse_sentence_score,
}

_HEAD_TO_HEAD = f"{_CHATGPT}/h2h"

# The letter names the place in the prompt, and the second order swaps the places.
_SHOWN = {"ab": {"A": "A", "B": "B", "C": "tie"}, "ba": {"A": "B", "B": "A", "C": "tie"}}
_Summaries = dict[str, dict[str, Any]]


def _convert_summeval(tree: SourceTree) -> dict[str, Iterator[JsonObject]]:
    own: _Summaries = {
        system: {
            str(row["id"]): row
            for row in tree.objects(f"model_output_annotations/{system}_outputs_annotations.jsonl")
        }
        for system in _SYSTEMS
    }
    joined = {f"pointwise_{name}": _summaries(tree, own, name) for name in _SUMMEVAL_CRITERIA}
    return joined | {f"pairwise_{name}": _pairs(tree, own, name) for name in _SUMMEVAL_CRITERIA}


def _summaries(tree: SourceTree, own: _Summaries, criterion: str) -> Iterator[JsonObject]:
    replies: dict[str, _Summaries] = {}
    for judge in _READERS:
        model, style = judge.split("/")
        folder = f"eval_model_generations/{model}"
        replies[judge] = {
            system: {
                str(row["id"]): row["resp"]
                for row in tree.objects(
                    f"{folder}/eval_{system}_generations/{criterion}_{style}.txt"
                )
            }
            for system in _SYSTEMS
        }
    # Sorted, so that the files are the same on every machine.
    for doc_id in sorted(own[_SYSTEMS[0]]):
        for system in _SYSTEMS:
            row = own[system][doc_id]
            texts = {judge: by_system[system][doc_id] for judge, by_system in replies.items()}
            human = [rater[criterion] for rater in row["expert_annotations"]]
            yield {
                "id": f"{doc_id}__{system}__{criterion}",
                "doc_id": doc_id,
                "system_id": system,
                "criterion": criterion,
                "scale": [1, 5],
                "input": row["text"],
                "output": row["decoded"],
                "human": [*human],
                "human_crowd": [rater[criterion] for rater in row["turker_annotations"]],
                "human_mean": round(sum(human) / len(human), _DIGITS),
                "judge": {judge: [text] for judge, text in texts.items()},
                "judge_parsed": {judge: [_READERS[judge](text)] for judge, text in texts.items()},
            }


def _pairs(tree: SourceTree, own: _Summaries, criterion: str) -> Iterator[JsonObject]:
    for a, b in _PAIRS:
        root = f"comp_res/{_CHATGPT}/{a}-{b}_{criterion}"
        orders = {
            order: {str(row["id"]): row for row in tree.objects(f"{root}{ending}.result")}
            for order, ending in (("ab", ""), ("ba", "_toggle"))
        }
        for doc_id in sorted(orders["ab"]):
            both: dict[str, Any] = {order: rows[doc_id] for order, rows in orders.items()}
            scores = [both["ab"]["human_score_1"], both["ab"]["human_score_2"]]
            texts = {order: row["resp"] for order, row in both.items()}
            yield {
                "id": f"{doc_id}__{a}__{b}__{criterion}",
                "doc_id": doc_id,
                "criterion": criterion,
                "system_a": a,
                "system_b": b,
                "input": own[a][doc_id]["text"],
                "output_a": own[a][doc_id]["decoded"],
                "output_b": own[b][doc_id]["decoded"],
                # The authors published scores of each side; the winner follows from them.
                "human": "tie" if scores[0] == scores[1] else "A" if scores[0] > scores[1] else "B",
                "human_scores": [*scores],
                "judge": {_HEAD_TO_HEAD: texts},
                "judge_parsed": {
                    _HEAD_TO_HEAD: {
                        order: _SHOWN[order][parse_letter(text)] for order, text in texts.items()
                    }
                },
            }


_STYLES = ("analyze_rate", "geval", "rate_explain")

# The file has means only; the paper names three raters.
_N_RATERS = 3


def _topical_chat_rows(tree: SourceTree, criterion: str, short: str) -> Iterator[JsonObject]:
    samples: dict[str, dict[tuple[object, ...], Any]] = {
        style: {
            _key(row): row["all_responses"]
            for row in tree.objects(f"results/topical_chat/gpt3.5_{short}_{style}.json")
        }
        for style in _STYLES
    }
    dialogues: dict[object, str] = {}
    for at, row in enumerate[Any](tree.objects("data/topical_chat.json")):
        # The file has no ids: answers to one source belong to one dialogue, in order of appearance.
        doc_id = dialogues.setdefault(row["source"], f"dialogue_{len(dialogues):02}")
        key = _key(row)
        replies = {f"gpt-3.5/{style}": by[key] for style, by in samples.items() if key in by}
        score = row["scores"][criterion]
        yield {
            "id": f"topical_{at:03}__{criterion}",
            "doc_id": doc_id,
            "system_id": row["system_id"],
            "criterion": criterion,
            "scale": [1, 3],
            "input": row["source"],
            "context": row["context"],
            "output": row["system_output"],
            "human": [score],
            "human_is_mean_of": _N_RATERS,
            "human_mean": score,
            "judge": {**replies},
            "judge_parsed": {
                judge: list(map(parse_rating, all_)) for judge, all_ in replies.items()
            },
        }


def _key(row: JsonObject) -> tuple[object, ...]:
    return row["source"], row["system_id"], row["system_output"]


_ROOT = "Art_or_Artifice"

# One file for each judge, named after it.
_ANSWERS = f"{_ROOT}/data/annotations_"


def _convert_ttcw(tree: SourceTree) -> dict[str, Iterator[JsonObject]]:
    """Judgments, and beside them the criteria, the stories and the experts' reasons."""
    tests: list[Any] = tree.objects(f"{_ROOT}/tests/ttcw_all_tests.json")
    stories: list[Any] = tree.objects(f"{_ROOT}/stories/ttcw_short_stories.json")
    votes: dict[str, list[Any]] = {}
    for vote in tree.objects(f"{_ROOT}/annotations/ttcw_annotations.json"):
        votes.setdefault(f"story_{vote['story_id']}_test{vote['ttcw_idx']}", []).append(vote)
    order = sorted(stories, key=lambda story: f"story_{story['story_id']}_")
    items = [
        (f"story_{story['story_id']}_test{test['ttcw_idx']}", test, story)
        for test in sorted(tests, key=lambda test: int(test["ttcw_idx"]))
        for story in order
    ]
    return {
        "pointwise": _judgments(tree, items, votes),
        "criteria": (
            {
                "criterion": test["category"],
                "dimension": test["torrance_dimension"],
                "question": test["question"],
                "background": test["full_prompt"],
            }
            for test in tests
        ),
        "stories": (
            {
                "doc_id": story["story_id"],
                "title": story["story_name"],
                "input": story["plot"],
                # A story of the magazine is a link: its text belongs to the magazine.
                "output": None if story["content"].startswith("https://") else story["content"],
            }
            for story in stories
        ),
        "human_rationales": (
            {
                "id": name,
                "human": [*_verdicts(votes[name])],
                "human_rationale": [vote["explanation"] for vote in votes[name]],
            }
            for name, _, _ in items
        ),
    }


def _judgments(
    tree: SourceTree, items: Sequence[tuple[str, Any, Any]], votes: dict[str, list[Any]]
) -> Iterator[JsonObject]:
    answers: dict[str, dict[object, Any]] = {
        path.removeprefix(_ANSWERS).removesuffix(".jsonl"): {
            row["id"]: row["response"] for row in tree.objects(path)
        }
        for path in sorted(tree.below(_ANSWERS))
    }
    # Not every judge answered every item.
    for name, test, story in items:
        human = _verdicts(votes[name])
        replies = {judge: rows[name] for judge, rows in answers.items() if name in rows}
        yield {
            "id": name,
            "doc_id": story["story_id"],
            "system_id": story["story_id"].split("_", 1)[1],
            "criterion": test["category"],
            "dimension": test["torrance_dimension"],
            "scale": [0, 1],
            "input": story["plot"],
            "human": [*human],
            "human_annotator": [vote["expert_idx"] for vote in votes[name]],
            "human_mean": round(sum(human) / len(human), _DIGITS),
            "judge": {judge: [text] for judge, text in replies.items()},
            "judge_parsed": {judge: [opens_with_yes(text)] for judge, text in replies.items()},
        }


def _verdicts(votes: Sequence[Any]) -> list[int]:
    return [int(vote["binary_verdict"] == "Yes") for vote in votes]


_FILE = "eval/benchmark/data/mt_bench_eval.json"
_PROMETHEUS_JUDGE = "gpt-4"


def _prometheus_rows(tree: SourceTree) -> Iterator[JsonObject]:
    for at, row in enumerate(tree.objects(_FILE)):
        scores, feedback = _listed(row["gpt4_score"]), _listed(row["gpt4_feedback"])
        # The reply in the form that the prompt asks for; the file has its parts only.
        replies = [
            f"Feedback: {why} [RESULT] {score}" for why, score in zip(feedback, scores, strict=True)
        ]
        yield {
            "id": f"mt_bench_eval_{at:03}",
            "doc_id": str(row["idx"]),
            "system_id": row["response_source"],
            "category": row["category"],
            "scale": [1, 5],
            "prompt": row["instruction"],
            "human": [],
            "judge": {_PROMETHEUS_JUDGE: [*replies]},
            "judge_feedback": {_PROMETHEUS_JUDGE: feedback},
            "judge_parsed": {_PROMETHEUS_JUDGE: scores},
        }


def _listed(value: object) -> list[Any]:
    """A list that the file has as the text of a Python literal."""
    try:
        found: object = ast.literal_eval(value) if isinstance(value, str) else value
    except (ValueError, SyntaxError) as error:
        raise DatasetError(f"{_FILE} has a list that cannot be read: {error}") from error
    if not isinstance(found, list):
        raise DatasetError(f"{_FILE} has {type(found).__name__} where a list belongs")
    return found


_TABLE = "eval/table/"
_VICUNA_JUDGE = "gpt-4-0328"
_VICUNA_LABELLED = "gpt35_vicuna-13b"
_LABELS = "review/review_gpt35_vicuna-13b_human.txt"
_LABELLERS = "i-Eval/FairEval"
_VICUNA_SIDES = {"CHATGPT": "A", "VICUNA13B": "B", "TIE": "tie"}


def _labelled(tree: SourceTree) -> Iterator[JsonObject]:
    # The labels are a bare list in the order of the reviews, in another repository.
    labels = tree.text(_LABELS, repository=_LABELLERS).split()
    rows = list(_reviews(tree, _VICUNA_LABELLED))
    if len(labels) != len(rows):
        raise DatasetError(f"{_LABELS} has {len(labels)} labels for {len(rows)} reviews")
    for (row, outputs), label in zip(rows, labels, strict=True):
        sides = {f"output_{side}": text for side, text in zip("ab", outputs, strict=True)}
        yield {**row, **sides, "human": _VICUNA_SIDES[label]}


def _reviews(
    tree: SourceTree, wanted: str | None = None
) -> Iterator[tuple[JsonObject, tuple[str, str]]]:
    questions = {row["question_id"]: row for row in tree.objects(f"{_TABLE}question.jsonl")}
    answers: dict[str, Any] = {
        str(row["answer_id"]): row
        for path in tree.below(f"{_TABLE}answer/")
        for row in tree.objects(path)
    }
    for path in tree.below(f"{_TABLE}review/"):
        pairing = path.rsplit("/review_", 1)[1].removesuffix(".jsonl")
        for review in tree.objects(path) if wanted in (None, pairing) else ():
            number: Any = review["question_id"]
            first, second = (answers[str(review[f"answer{place}_id"])] for place in (1, 2))
            scores: Any = review["score"]
            row: JsonObject = {
                "id": f"{pairing}__q{number:02}",
                "question_id": number,
                "category": questions[number]["category"],
                "input": questions[number]["text"],
                "system_a": first["model_id"],
                "system_b": second["model_id"],
                "judge": {_VICUNA_JUDGE: {"ab": review["text"]}},
                "judge_parsed": {_VICUNA_JUDGE: {"ab": [float(score) for score in scores]}},
            }
            yield row, (first["text"], second["text"])


_BOARDS = "src/alpaca_eval/leaderboards/"
_BOARD = "_leaderboard.csv"

_FIGURES = (
    "length_controlled_winrate", "n_draws", "n_total", "n_wins", "n_wins_base", "standard_error",
    "win_rate",
)  # fmt: skip


def _alpaca_rows(tree: SourceTree) -> Iterator[JsonObject]:
    """All preferences of a judge for one system, and its leaderboard row."""
    # A result lies in results/<system>/<judge>/annotations.json.
    results = [path.split("/") for path in tree.below("results/")]
    for board in sorted(tree.below(_BOARDS), reverse=True):
        judge = board.rsplit("/", 1)[1].removesuffix(_BOARD)
        lines = {line[""]: line for line in tree.table(board)}
        for system in sorted(system for _, system, by, _ in results if by == judge):
            pairs: list[Any] = tree.objects(f"results/{system}/{judge}/annotations.json")
            yield {
                "id": f"{judge}__{system}",
                "judge_name": judge,
                "system_a": pairs[0]["generator_1"],
                "system_b": pairs[0]["generator_2"],
                "preference": [pair["preference"] for pair in pairs],
                "len_a": [len(pair["output_1"]) for pair in pairs],
                "len_b": [len(pair["output_2"]) for pair in pairs],
                "published": {name: float(lines[system][name]) for name in _FIGURES},
            }


# The names of the paper, with the folders of the repository.
_FOLDERS = {"Natural": "Natural"} | {
    name: f"Adversarial/{name}" for name in ("Neighbor", "GPTInst", "GPTOut", "Manual")
}

_JUDGES = tuple(
    f"{model}/{style}"
    for model in ("ChatGPT", "GPT-4", "LLaMA2", "PaLM2")
    for style in ("CoT", "Vanilla", "Vanilla_NoRules")
)

# The keys of the authors' files for the two orders.
_ORDERS = {"ab": "swap = False", "ba": "swap = True"}


def _llmbar_rows(tree: SourceTree) -> Iterator[JsonObject]:
    for subset, folder in _FOLDERS.items():
        root = f"Dataset/LLMBar/{folder}"
        answers: dict[str, list[Any]] = {
            judge: tree.objects(f"{root}/evaluators/{judge}/result.json") for judge in _JUDGES
        }
        for at, pair in enumerate(tree.objects(f"{root}/dataset.json")):
            orders = {judge: rows[at]["results"][0] for judge, rows in answers.items()}
            yield {
                "id": f"{subset}_{at:03}",
                "subset": subset,
                "input": pair["input"],
                "output_a": pair["output_1"],
                "output_b": pair["output_2"],
                "human": _SIDES[str(pair["label"])],
                "judge": {
                    judge: {order: both[key]["completion"][0] for order, key in _ORDERS.items()}
                    for judge, both in orders.items()
                },
                # The winner is the authors' reading; with `swap` they map it back to the outputs.
                "judge_parsed": {
                    judge: {
                        order: _SIDES.get(str(both[key]["winner"]))
                        for order, key in _ORDERS.items()
                    }
                    for judge, both in orders.items()
                },
            }


_SUFFIX = ".calibration.jsonl"


def _confidence_rows(tree: SourceTree) -> Iterator[JsonObject]:
    answers: dict[str, list[Any]] = {
        path.removeprefix("result/").removesuffix(_SUFFIX): tree.objects(path)
        for path in sorted(tree.below("result/"))
    }
    # Every judge's file repeats the pairs in the same order.
    for at, pair in enumerate(next(iter(answers.values()))):
        first, second = pair["outputs"]
        yield {
            "id": f"pref_{at:03}",
            "input": pair["instruction"],
            "output_a": first,
            "output_b": second,
            "human": _SIDES[str(pair["preferences"]["human"])],
            "judge_probability": {
                judge: dict(zip("AB", rows[at]["probs"], strict=True))
                for judge, rows in answers.items()
            },
        }


def _alttest_rows(tree: SourceTree, name: str) -> Iterator[JsonObject]:
    humans = cast("dict[str, Any]", tree.document(f"data/{name}/human_annotations.json"))
    judges = cast("dict[str, Any]", tree.document(f"data/{name}/llm_annotations.json"))
    # Not every annotator labelled every item; each item appears once, in order.
    for item in dict.fromkeys(item for labels in humans.values() for item in labels):
        yield {
            "id": item,
            "human": {who: humans[who][item] for who in sorted(humans) if item in humans[who]},
            "judge_parsed": {who: judges[who].get(item) for who in sorted(judges)},
        }


# The converter of each dataset, by the name the catalog uses.
CONVERTERS: Mapping[str, Callable[[SourceTree], dict[str, Iterator[JsonObject]]]] = {
    "alpaca": lambda tree: {"preferences": _alpaca_rows(tree)},
    # The rows of each data set whose labels are in the tree.
    "alttest": lambda tree: {
        name: _alttest_rows(tree, name)
        for name in sorted({path.split("/")[1] for path in tree.below("data/")})
    },
    "confidence": lambda tree: {"pairwise": _confidence_rows(tree)},
    "llmbar": lambda tree: {"pairwise": _llmbar_rows(tree)},
    "prometheus": lambda tree: {"mt_bench_eval": _prometheus_rows(tree)},
    "summeval": _convert_summeval,
    "topical_chat": lambda tree: {
        f"pointwise_{name}": _topical_chat_rows(tree, name, short)
        for name, short in (("engagingness", "eng"), ("naturalness", "nat"))
    },
    "ttcw": _convert_ttcw,
    # All pairings, and the one with human labels.
    "vicuna": lambda tree: {
        "pairwise_all_models": (row for row, _ in _reviews(tree)),
        "pairwise_gpt35_vicuna13b": _labelled(tree),
    },
}
