"""Every figure of every published set, by the keys of the reference values."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from judgekit.published.readings import rating, sentence_score
from tests.published import correlating, deciding, standing_in
from tests.published.material import reference, rows_of, sets_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.published.material import Figures

_LAST_DIGIT = re.compile(r"([1-5])\.[0-9]\W*\Z")
_DRAWN = ("GPT-4_vs_ChatGPT", ("CoT", "Vanilla"))


def summeval_authors(text: str) -> float | None:
    """As `readings.sentence_score`, but of a bare closing "2.5" the last digit, as theirs does."""
    score = sentence_score(text)
    bare = _LAST_DIGIT.search(text)
    is_bare = bare is not None and "scor" not in text.lower()
    return float(text[bare.end(1) + 1]) if is_bare and bare is not None else score


def topical_authors(text: str) -> float:
    """As `readings.rating`, but decimals are cut and an unreadable reply is 0."""
    score = rating(text)
    return 0.0 if score is None else float(int(str(score)[0]))


@lru_cache(maxsize=1)
def all_figures() -> Figures:
    """Every figure, `set/judge/statistic`; about three seconds of work, so done once."""
    found: Figures = {}
    for prefix, figures in _parts():
        found |= {f"{prefix}/{name}": one for name, one in figures().items()}
    return found


def _parts() -> Iterator[tuple[str, Callable[[], Figures]]]:
    for criterion in sets_below("summeval_llm", "pointwise_"):
        rows = rows_of(f"summeval_llm/pointwise_{criterion}")
        yield f"summeval_{criterion}", lambda: correlating.summeval(rows, summeval_authors)  # noqa: B023 - called before the next
    for criterion in sets_below("summeval_llm", "pairwise_"):
        rows = rows_of(f"summeval_llm/pairwise_{criterion}")
        yield f"summeval_h2h_{criterion}", lambda: deciding.pairs(rows)  # noqa: B023
    for criterion in sets_below("topical_chat", "pointwise_"):
        rows = rows_of(f"topical_chat/pointwise_{criterion}")
        yield f"topical_{criterion}", lambda: correlating.topical(rows, topical_authors)  # noqa: B023
    for name in sets_below("prometheus_rubric"):
        rows = rows_of(f"prometheus_rubric/{name}")
        yield f"prometheus_{name}", lambda: correlating.prometheus(rows)  # noqa: B023
    for name in sets_below("alttest"):
        rows, epsilon = rows_of(f"alttest/{name}"), _advantage(name)
        yield f"alttest_{name}", lambda: standing_in.annotators(rows, epsilon=epsilon)  # noqa: B023
    llmbar = rows_of("llmbar/pairwise")
    for subset in dict.fromkeys(row["subset"] for row in llmbar):
        own = [row for row in llmbar if row["subset"] == subset]
        yield f"llmbar_{subset}", lambda: deciding.pairs(own)  # noqa: B023
    pair, styles = _DRAWN
    judges = pair.split("_vs_")
    yield (
        "llmbar_all",
        lambda: {
            f"{pair}/{style}/mcnemar_exact_p": deciding.mcnemar(
                llmbar, *(f"{judge}/{style}" for judge in judges)
            )
            for style in styles
        },
    )
    yield "ttcw", lambda: deciding.ttcw(rows_of("ttcw/pointwise"))
    yield "vicuna80", lambda: deciding.reviews(rows_of("vicuna80/pairwise_gpt35_vicuna13b"))
    yield "vicuna80_all", lambda: standing_in.strengths(rows_of("vicuna80/pairwise_all_models"))
    yield "judge_confidence", lambda: standing_in.confidences(rows_of("judge_confidence/pairwise"))
    yield "alpaca", lambda: standing_in.win_rates(rows_of("alpaca_winrates/preferences"))


def _advantage(name: str) -> float:
    """The advantage a data set's authors give the judge: a policy, which the reference states."""
    place = f"alttest_{name}/"
    return next(
        float(figure["epsilon"])
        for key, figure in reference().items()
        if key.startswith(place) and "epsilon" in figure
    )
