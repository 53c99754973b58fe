"""Every figure of every published set, by the keys of the reference values."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from judgekit.public_data.converters import parse_rating, parse_sentence_score
from tests.public_data import by_command, by_python, creative_writing
from tests.public_data.material import reference, sets_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.public_data.material import Figures

_LAST_DIGIT = re.compile(r"([1-5])\.[0-9]\W*\Z")
_DRAWN = ("GPT-4", "ChatGPT")


def summeval_authors(text: str) -> float | None:
    """As `readings.sentence_score`, but of a bare closing "2.5" the last digit, as theirs does."""
    score = parse_sentence_score(text)
    bare = _LAST_DIGIT.search(text)
    is_bare = bare is not None and "scor" not in text.lower()
    return float(text[bare.end(1) + 1]) if is_bare and bare is not None else score


def topical_authors(text: str) -> float:
    """As `readings.rating`, but decimals are cut and an unreadable reply is 0."""
    score = parse_rating(text)
    return 0.0 if score is None else float(int(str(score)[0]))


@lru_cache(maxsize=1)
def all_figures() -> Figures:
    """Every figure, `set/judge/statistic`."""
    return {key: one for part in parts() for key, one in figures_of(part).items()}


@lru_cache(maxsize=64)
def figures_of(part: str) -> Figures:
    """The figures of one part, `set/judge/statistic`."""
    return {f"{part}/{name}": one for name, one in dict(_parts())[part]().items()}


def parts() -> list[str]:
    """What the keys of the reference values begin with."""
    return [part for part, _ in _parts()]


def _parts() -> Iterator[tuple[str, Callable[[], Figures]]]:
    for name in sets_below("summeval_llm", "pointwise_"):
        yield f"summeval_{name}", partial(by_command.summeval, name, summeval_authors)
    for name in sets_below("summeval_llm", "pairwise_"):
        yield f"summeval_h2h_{name}", partial(by_command.head_to_head, name)
    for name in sets_below("topical_chat", "pointwise_"):
        yield f"topical_{name}", partial(by_command.topical, name, topical_authors)
    for name in sets_below("prometheus_rubric"):
        yield f"prometheus_{name}", partial(by_python.prometheus, name)
    for name in sets_below("alttest"):
        yield f"alttest_{name}", partial(_annotators, name)
    for name in by_command.subsets():
        yield f"llmbar_{name}", partial(by_command.llmbar, name)
    yield "llmbar_all", _drawn_judges
    yield "ttcw", creative_writing.ttcw
    yield "vicuna80", by_command.vicuna
    yield "vicuna80_all", by_python.strengths
    yield "judge_confidence", by_command.confidences
    yield "alpaca", by_python.win_rates


def _drawn_judges() -> Figures:
    return {
        f"{'_vs_'.join(_DRAWN)}/{style}/{name}": figure
        for style in ("CoT", "Vanilla")
        for name, figure in by_python.mcnemar(*(f"{model}/{style}" for model in _DRAWN)).items()
    }


def _annotators(name: str) -> Figures:
    return by_command.annotators(name, _advantage(name))


def _advantage(name: str) -> float:
    """The advantage a data set's authors give the judge: a policy, which the reference states."""
    place = f"alttest_{name}/"
    return next(
        float(figure["epsilon"])
        for key, figure in reference().items()
        if key.startswith(place) and "epsilon" in figure
    )
