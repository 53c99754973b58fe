"""The files that the scenarios begin with: a small laboratory whose judge was recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Files = dict[str, str]

CASES = [f"q{k:02}" for k in range(12)]
_TRUE = {
    "a": [5, 1, 4, 2, 5, 3, 1, 4, 2, 5, 3, 4],
    "b": [3, 1, 2, 1, 4, 2, 1, 3, 2, 3, 2, 2],
    "c": [1, 1, 2, 2, 2, 1, 2, 1, 1, 2, 1, 1],
}
_JUDGED = {
    "a": [5, 2, 4, 3, 5, 3, 1, 5, 2, 4, 4, 4],
    "b": [3, 1, 2, 2, 4, 1, 1, 3, 2, 3, 2, 3],
    "c": [1, 1, 1, 2, 3, 1, 2, 2, 1, 2, 1, 1],
}
"""What people and the judge give to the answers, from 1 to 5."""

_OPENINGS = {"a": "Gladly, this solves", "b": "Perhaps it is", "c": "No idea about"}

RUBRIC = """\
name: helpfulness
pass_threshold: 0.7
criteria:
  - name: helpful
    question: Does the answer solve the problem that the customer describes?
    scale: one_to_five
    weight: 2
    required: true
    pass_value: 0.5
  - name: brief
    question: Is the answer three sentences long at most?
    scale: binary
"""

SUITE = """\
name: lab
dataset: cases.jsonl
rubric: rubric.yaml
judge: {model: "recorded:replies.jsonl"}
variants:
  - {id: a, outputs: outputs/a.jsonl}
  - {id: b, outputs: outputs/b.jsonl}
  - {id: c, outputs: outputs/c.jsonl}
"""


def rows(entries: Iterable[Mapping[str, object]]) -> str:
    """JSON lines."""
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def said(score: object, **more: object) -> str:
    """A judge's reply about one criterion."""
    known = {"evidence": [], "rationale": f"It is worth {score}.", "score": score}
    return json.dumps(known | {"confidence": 0.8, "assessable": True} | more)


def preferred(choice: str) -> str:
    """A judge's reply about two outputs."""
    first, second = {"first": (8, 4), "second": (4, 8), "tie": (6, 6)}[choice]
    return json.dumps(
        {
            "evidence_first": [],
            "evidence_second": [],
            "rationale": f"In this order it is {choice}.",
            "score_first": first,
            "score_second": second,
            "preference": choice,
            "confidence": 0.9,
            "assessable": True,
        }
    )


def laboratory() -> Files:
    """Twelve cases, three variants, two criteria, and what the judge said of them."""
    cases = (
        {
            "id": case,
            "input": f"Problem {case}?",
            "reference": f"Solution {case}.",
            "tags": ["odd" if k % 2 else "even"],
            "stratum": ("simple", "medium", "complex")[k % 3],
        }
        for k, case in enumerate(CASES)
    )
    files = {"judgekit.yaml": SUITE, "rubric.yaml": RUBRIC, "cases.jsonl": rows(cases)}
    files["replies.jsonl"] = rows([*_replies(), *_preferences()])
    files["labels.jsonl"] = rows(_labels())
    for variant in _JUDGED:
        outputs = (_output(variant, case, k) for k, case in enumerate(CASES))
        files[f"outputs/{variant}.jsonl"] = rows(outputs)
    return files


def _output(variant: str, case: str, k: int) -> dict[str, object]:
    usage = {"input_tokens": 10 + k, "output_tokens": 5}
    text = f"{_OPENINGS[variant]} {case}{'!' * k}"
    return {"case_id": case, "text": text, "usage": usage, "duration_ms": 100 + k}


def _replies() -> Iterable[dict[str, object]]:
    for variant, scores in _JUDGED.items():
        for case, score in zip(CASES, scores, strict=True):
            about: dict[str, object] = {"case_id": case, "variant": variant}
            yield about | {"criterion": "helpful", "text": said(score)}
            yield about | {"criterion": "brief", "text": said(int(score > 1))}


def _preferences() -> Iterable[dict[str, object]]:
    """`a` is better than `b` and `b` than `c`, but for a tie, a flip and an upset."""
    odd = {"q05": ("tie", "tie"), "q06": ("first", "first"), "q08": ("second", "first")}
    for sides in ("a vs b", "a vs c", "b vs c"):
        for case in CASES:
            both = ("first", "second") if sides == "a vs c" else odd.get(case, ("first", "second"))
            for order, choice in zip(("ab", "ba"), both, strict=True):
                for criterion in ("helpful", "brief"):
                    about: dict[str, object] = {
                        "case_id": case,
                        "variant": sides,
                        "criterion": criterion,
                    }
                    yield about | {"order": order, "text": preferred(choice)}


def _labels() -> Iterable[dict[str, object]]:
    """Two people label every answer; one of them is more lenient now and then."""
    for variant, scores in _TRUE.items():
        for k, (case, true) in enumerate(zip(CASES, scores, strict=True)):
            about: dict[str, object] = {"case_id": case, "variant": variant, "criterion": "helpful"}
            yield about | {"annotator": "Ann", "raw": true, "rationale": "As I read it."}
            yield about | {"annotator": "Ben", "raw": min(5, true + (k % 4 == 0))}
