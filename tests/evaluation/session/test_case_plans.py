from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.evaluation import SIMILARITY_KEY
from judgekit.evaluation.runner import new_run
from tests.evaluation.suites import NOW, RIGHT, Bench, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeBench = Callable[..., Bench]

ALIKE: dict[str, Any] = {"reference": "R", "evaluation": {"strategy": "semantic_sim"}}
MEASURED = {"type": "similarity", "method": "embedding", "model": "openai/e"}
INSTALLED = "lexical: token sort ratio" if find_spec("wordllama") is None else "semantic: wordllama"


def measure(bench: MakeBench, case: dict[str, Any], *scorers: dict[str, Any]) -> object:
    """How a run of one case says that it measures similarity."""
    small = bench(judge=None, assertions=None, scorers=list(scorers))
    text = rows({"id": "c0", "input": "?", **case})
    (small.path.parent / "cases.jsonl").write_text(text, encoding="utf-8")
    return new_run(small.open(), now=NOW).config.get(SIMILARITY_KEY)


@pytest.mark.parametrize("case", [ALIKE, {"assertions": [{"type": "similar", "value": "R"}]}])
def test_a_run_says_how_similarity_is_measured(bench: MakeBench, case: dict[str, Any]) -> None:
    assert measure(bench, case) == INSTALLED
    lexical = {"type": "similarity", "method": "lexical"}
    assert measure(bench, case, lexical) == "lexical: token sort ratio"
    assert measure(bench, case, MEASURED) == "semantic: openai/e"


def test_a_run_that_decides_nothing_by_similarity_says_nothing_of_it(bench: MakeBench) -> None:
    assert measure(bench, {"assertions": [RIGHT]}, MEASURED) is None
