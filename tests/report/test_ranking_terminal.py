from __future__ import annotations

import io
import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from judgekit.evaluation import JudgeUsage, RankRules, rank_matches
from judgekit.evaluation.pairing import LeftOut
from judgekit.evaluation.ranking_result import RankingProvenance
from judgekit.evaluation.ranking_summary import with_segments
from judgekit.report import document_data, print_document, ranking_document
from tests.evaluation.ranking.fields import judged, met, season
from tests.factories import make_case
from tests.report.drawing import drawn, plain_console

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.evaluation.ranking_result import MatchResult


def shown(meetings: Iterable[MatchResult], *names: str, **settings: Any) -> str:
    """The ranking as a wide terminal shows it."""
    console = Console(file=io.StringIO(), width=200)
    made = ranking_document(rank_matches(meetings, names, **settings))
    print_document(console, made)
    assert isinstance(console.file, io.StringIO)
    return re.sub(" +", " ", console.file.getvalue())


def test_strengths_places_and_who_beat_whom_are_shown() -> None:
    true = {"v1": 1.5, "v2": 0.0, "v3": -1.5}
    text = shown(
        season(np.random.default_rng(1), true, 60, first=0.8),
        questioned=RankingProvenance(
            rubric="support", judges=("gpt pairwise/criterion@1",), spent=JudgeUsage(n_replies=720)
        ),
    )
    assert "support: 3 variants, 180 comparisons on 60 cases" in text
    assert "strength, 95 %" in text
    assert "judge gpt pairwise/criterion@1" in text
    assert "calls 720 replies" in text
    assert "between equal outputs the one shown first wins 7" in text
    assert "v1 is first: shown to be better than all others (alpha 0.05)" in text
    assert "Wins of the row against the column, %" in text


def test_several_places_are_named_in_their_order() -> None:
    true = {"v1": 2.0, "v2": 0.0, "v3": -2.0}
    meetings = season(np.random.default_rng(1), true, 60, tie_share=0.2)
    text = shown(meetings, rules=RankRules(top=2, alpha=0.1, ties="davidson"))
    assert "strength, 90 %" in text
    assert "the order is v1, v2: each shown to be better than all below (alpha 0.1)" in text
    assert "counted as a separate outcome, Davidson's nu 0." in text


def test_what_is_open_is_said_with_the_cases_it_would_take() -> None:
    text = shown(met("x", "y", *"aaabbaba"))
    assert "no decision: place 1 is open between x and y (alpha 0.05); about " in text
    assert "cases are needed to separate them" in text
    assert "position bias not estimated: the order the outputs were shown in is not known" in text


def test_who_won_everything_is_shown_without_an_end() -> None:
    text = shown([*met("x", "y", *["a"] * 9), *met("x", "z", *["a"] * 9), *met("y", "z", *"ab")])
    assert "≥ " in text
    assert "one-way only one side has ever won between x | y, z:" in text
    both = shown(met("x", "y", *["a"] * 9))
    assert "≤ -" in both


def test_sides_that_never_met_stand_apart() -> None:
    text = shown([*met("x", "y", *"ab"), *met("p", "q", *"ab")], "alone")
    assert "no decided comparison links these groups: p, q | x, y | alone" in text


def test_a_place_no_choice_hangs_on_is_said() -> None:
    meetings = [judged("x", "y", f"c{k}", "first", "second") for k in range(5)]
    meetings += [judged("x", "y", f"d{k}", "second", "first") for k in range(5)]
    assert "position no choice depended on the position" in shown(meetings)


def test_everything_that_is_missing_is_counted() -> None:
    asked = RankingProvenance(
        is_adaptive=True, ended="cost", n_planned=40, n_errors=2,
        failures={"unreadable": 3}, failure_messages={"unreadable": "no verdict\n  look"},
        left_out=LeftOut(n_only_a=3, only_a=("c7", "c8"), n_other_input=1, other_input=("c9",)),
    )  # fmt: skip
    same = judged("x", "y", "c5", "tie", "tie")._replace(choices=(), is_identical=True)
    text = shown([*met("x", "y", "a", "b", None, "tie"), same], questioned=asked)
    assert "ended after 7 of 40 comparisons: the cost limit allows no further call" in text
    assert "pairs chosen adaptively" in text
    assert "open 1 comparison undecided because of a failure" in text
    assert "bounds 40 to 60 % wins of x, depending on these" in text
    assert "same 1 comparison of identical texts: counted as ties without a call" in text
    assert "errors 2 comparisons with an output that records an error; not judged" in text
    assert "left out 3 cases missing for some variants: c7, c8, …" in text
    assert "left out 1 case with different inputs: c9" in text
    assert "failed 3 questions: no verdict could be read" in text


def test_many_sides_have_no_matrix_and_names_cannot_steer_the_terminal() -> None:
    names = [f"s{k:02}" for k in range(11)]
    meetings = [m for a, b in pairwise(names) for m in met(a, b, *"ab")]
    assert "Wins of the row" not in shown(meetings)
    assert "\x1b" not in shown(met("[red]x\x1b[31m", "y", *"ab"))


def test_json_has_null_where_nothing_is_defined() -> None:
    found = document_data(ranking_document(rank_matches(met("x", "y", *["a"] * 4))))
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text)["sides"][0]["strength"]["high"] is None


def test_segments_are_shown_from_ten_cases_on_and_else_on_request() -> None:
    def ranked(n: int, *, verbose: bool = False) -> str:
        cases = {f"c{k}": make_case(id=f"c{k}", stratum="simple", tags=("t",)) for k in range(n)}
        console = plain_console(80)
        matches = met("x", "y", *"a" * n)
        made = with_segments(rank_matches(matches), matches, cases)
        print_document(console, ranking_document(made), verbose=verbose)
        return re.sub(" +", " ", drawn(console))

    assert " stratum simple, tag t 10 x 100 % [72, 100]\n y 0 % [0, 28]" in ranked(10)
    assert "stratum simple" not in ranked(9)
    assert "stratum simple 9 x" in ranked(9, verbose=True)
