"""What must hold of every comparison, shown through the command line with recorded judges."""

from __future__ import annotations

import random
from math import sqrt
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.evaluation import Pairing
from judgekit.stats.sequential import win_e_value
from tests.evaluation.pairs import side
from tests.judge.comparing import prefers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.cli.bench import Bench

CHOICES = {
    "A": ("first", "second"),
    "B": ("second", "first"),
    "tie": ("tie", "tie"),
    "first": ("first", "first"),
    "open": ("first", None),
}
"""What the judge says with A shown first and with B shown first."""

RUBRIC = "name: r\ncriteria: [{name: good, question: Is it good?, scale: one_to_five}]\n"
N_CASES, STRENGTH, N_SIMULATIONS = 12, 0.7, 2000


@pytest.fixture
def sides(bench: Bench) -> Bench:
    bench.write("r.yaml", RUBRIC)
    return bench


def compare(bench: Bench, outcomes: Sequence[str], *names: str, options: Sequence[str] = ()) -> Any:
    """Compare two files by a judge whose outcome for each case is given, as seen from A."""
    cases = [f"c{k}" for k in range(len(outcomes))]
    for name, more in (("a", " and more"), ("b", "")):
        bench.write(
            f"{name}.jsonl",
            *({"case_id": c, "input": c, "text": f"{name} {c}{more * k}"}
              for k, c in enumerate(cases)),
        )  # fmt: skip
    bench.write(
        "replies.jsonl",
        *(
            {"case_id": c, "order": order, "text": prefers(choice) if choice else "I pass."}
            for c, outcome in zip(cases, outcomes, strict=True)
            for order, choice in zip(("ab", "ba"), CHOICES[outcome], strict=True)
        ),
    )
    ran = bench.run(
        "compare", *(names or ("a.jsonl", "b.jsonl")), "--rubric", "r.yaml", "--judge",
        "recorded:replies.jsonl", "--json", "-q", *options,
    )  # fmt: skip
    return ran.json | {"code": ran.code}


def test_a_judge_that_takes_the_first_slot_gives_no_win_and_is_flagged(sides: Bench) -> None:
    found = compare(sides, ["first"] * 20)
    whole = found["whole"]
    assert (whole["wins"], whole["losses"], whole["ties"], whole["inconsistent"]) == (0, 0, 0, 20)
    assert found["flip_rate"]["value"] == 1
    assert found["position"]["value"] == 0.5, "half more often than half: always"
    assert set(found["flags"]) == {"position_bias", "mostly_inconsistent"}
    assert (found["decision"]["winner"], found["code"]) == (None, 4)


def test_the_interval_of_a_fair_judge_covers_its_strength_at_the_nominal_rate(sides: Bench) -> None:
    """The interval hangs on the wins alone, so that each number of them is asked for once; and
    that of as many losses is the same from the other side, by the law below.
    """
    rates: dict[int, dict[str, float]] = {}
    for wins in range(N_CASES // 2, N_CASES + 1):
        whole = compare(sides, ["A"] * wins + ["B"] * (N_CASES - wins))["whole"]
        rates[N_CASES - wins] = mirrored(whole)["rate"]
        rates[wins] = whole["rate"]
    draw = random.Random(20240501)
    covered = 0
    for _ in range(N_SIMULATIONS):
        wins = sum(draw.random() < STRENGTH for _ in range(N_CASES))
        covered += rates[wins]["low"] <= STRENGTH <= rates[wins]["high"]
    error = 3 * sqrt(0.95 * 0.05 / N_SIMULATIONS)
    assert abs(covered / N_SIMULATIONS - 0.95) <= error


def mirrored(figures: dict[str, Any]) -> dict[str, Any]:
    """Wins as they are seen from the other side."""
    rate = figures["rate"]
    turned = {"value": 1 - rate["value"], "low": 1 - rate["high"], "high": 1 - rate["low"],
              "net": -rate["net"]}  # fmt: skip
    return figures | {
        "wins": figures["losses"],
        "losses": figures["wins"],
        "bounds": [1 - bound for bound in reversed(figures["bounds"])],
        "rate": rate | turned,
    }


def flat(value: Any) -> Any:
    """Numbers rounded, so that 1 - 0.7 is 0.3."""
    if isinstance(value, float):
        return round(value, 9)
    if isinstance(value, dict):
        return {key: flat(item) for key, item in value.items()}
    return [flat(item) for item in value] if isinstance(value, list) else value


def test_the_sides_turned_round_give_exactly_the_mirrored_result(sides: Bench) -> None:
    draw = random.Random(7)
    outcomes = draw.choices([*CHOICES], k=40)
    turned = {"A": "B", "B": "A"}
    there = compare(sides, outcomes)
    # The recorded choices are by place, so that the same judge is recorded the other way round.
    other = [turned.get(outcome, outcome) for outcome in outcomes]
    back = compare(sides, other, "b.jsonl", "a.jsonl")
    assert flat(back["whole"]) == flat(mirrored(there["whole"]))
    for name, figures in there["criteria"].items():
        assert flat(back["criteria"][name]) == flat(mirrored(figures))
    for same in ("flip_rate", "flags", "failures", "n_identical"):
        assert flat(back[same]) == flat(there[same])
    assert back["decision"]["p"] == there["decision"]["p"]
    lengths = (there["length_controlled"], back["length_controlled"])
    if None not in lengths:
        assert lengths[0]["value"] == pytest.approx(1 - lengths[1]["value"], abs=1e-6)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_looking_after_every_case_stops_at_the_first_that_shows_a_difference(
    sides: Bench, seed: int
) -> None:
    """Where there is none, that any case ever shows one has a chance of alpha at most."""
    draw = random.Random(seed)
    outcomes = draw.choices(["A", "B", "first", "tie"], weights=[6, 1, 1, 1], k=40)
    options = ("--until-decided", "--alpha", "0.1", "--seed", str(seed))
    found = compare(sides, outcomes, options=options)
    n = found["evidence"]["n_cases"]
    pairing = Pairing(*(side(label, *(f"c{k}" for k in range(40))) for label in "ab"), seed=seed,
                      is_shuffled=True)  # fmt: skip
    drawn = [outcomes[int(pair.case.id[1:])] for pair in pairing.pairs()]
    counted = [(drawn[:k].count("A"), drawn[:k].count("B")) for k in range(1, 41)]
    shown = [k for k, wins in enumerate(counted, 1) if win_e_value(*wins).value >= 1 / 0.1]
    assert n == (shown[0] if shown else 40)
    assert found["evidence"]["e_value"] == pytest.approx(win_e_value(*counted[n - 1]).value)


def test_where_there_is_no_difference_looking_hardly_ever_shows_one() -> None:
    """The same rule over 2,000 seeded contests of 100 cases: wrong at most alpha of the time."""
    alpha, n_wrong, n_contests = 0.1, 0, 2000
    reached = {
        (wins, n - wins): win_e_value(wins, n - wins).value >= 1 / alpha
        for n in range(101)
        for wins in range(n + 1)
    }
    draw = random.Random(20240502)
    for _ in range(n_contests):
        wins = 0
        for n in range(1, 101):
            wins += draw.random() < 0.5
            if reached[wins, n - wins]:
                n_wrong += 1
                break
    assert n_wrong / n_contests <= alpha
