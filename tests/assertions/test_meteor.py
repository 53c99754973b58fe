from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.assertions import check_specs, evaluate_assertions
from judgekit.errors import InputError
from judgekit.records import Output
from tests.factories import make_case

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.records import AssertionResult

pytest.importorskip("nltk")
import nltk
from nltk.corpus import wordnet

from judgekit.assertions.meteor_metric import nltk_meteor_score, wordnet_fault

CAT = "The cat sat on the mat."
NOUN = """\
00000000 00 n 02 car 0 auto 0 000 | what drives
"""


def scored(text: str, *references: str, **given: Any) -> float:
    """METEOR with nltk's parameters, but for those that are given."""
    known = {"alpha": 0.9, "beta": 3.0, "gamma": 0.5, "synonyms": False, **given}
    return nltk_meteor_score(text, list(references), **known)


def one(text: str, reference: str | None = None, **fields: Any) -> AssertionResult:
    """The result of one assertion, by the door that users have."""
    spec = {"type": "meteor", **fields}
    return evaluate_assertions(Output(text=text), [spec], case=make_case(reference=reference))[0]


@pytest.mark.parametrize(
    ("text", "reference", "expected"),
    [
        # All 6 words in 1 piece: 1 - 1/2 (1/6)^3.
        (CAT, CAT, Fraction(431, 432)),
        # All 6 words, none beside its neighbour: 1 - 1/2.
        ("on the mat sat the cat", CAT, Fraction(1, 2)),
        # 6 of 7 words, all 6 of the reference, in 2 pieces: 60/61 (1 - 1/2 (2/6)^3).
        ("the cat was sat on the mat", CAT, Fraction(60, 61) * Fraction(53, 54)),
        # Both words of the text, 2 of the reference's 3, in 1 piece: 20/29 (1 - 1/2 (1/2)^3).
        ("the cat", "the cat sat", Fraction(20, 29) * Fraction(15, 16)),
        # Both words by their stems, `cat` and `run`, in 1 piece.
        ("Cats running", "cat runs", Fraction(15, 16)),
        # 1 of 2 words either way; nobody says here that the other two mean the same.
        ("big house", "large house", Fraction(1, 4)),
        ("one", "one", Fraction(1, 2)),
        ("a b", "c d", Fraction(0)),
        ("", "", Fraction(0)),
        ("!", "?", Fraction(0)),
    ],
)
def test_meteor_is_worked_by_hand(text: str, reference: str, expected: Fraction) -> None:
    assert scored(text, reference) == pytest.approx(float(expected), abs=1e-12)


def test_meteor_agrees_with_the_examples_that_nltk_publishes() -> None:
    # nltk 3.10.4, translate/meteor_score.py: 0.6944 against the best of three references; the
    # first is the best one, and no pair of synonyms takes part in it.
    text = (
        "It is a guide to action which ensures that the military always obeys the commands of "
        "the party"
    )
    second = (
        "It is the guiding principle which guarantees the military forces always being under the "
        "command of the Party"
    )
    references = [
        "It is a guide to action that ensures that the military will forever heed Party commands",
        second,
        "It is the practical guide for the army always to heed the directions of the party",
    ]
    assert round(scored(text, *references), 4) == 0.6944
    assert scored(text, *references) == scored(text, references[0])
    assert scored("non matching hypothesis", "this is a cat") == 0


def test_the_parameters_weigh_as_the_formula_says() -> None:
    # P = 1, R = 2/3, 1 piece of 2 words.
    plain = {"gamma": 0.0}
    assert scored("the cat", "the cat sat", alpha=0.5, **plain) == pytest.approx(4 / 5)
    assert scored("the cat", "the cat sat", alpha=1.0, **plain) == pytest.approx(2 / 3)
    assert scored("the cat", "the cat sat", alpha=0.0, **plain) == pytest.approx(1)
    assert scored("the cat", "the cat", beta=1.0, gamma=1.0) == pytest.approx(1 / 2)


_WORDS = st.lists(st.sampled_from([f"w{n}" for n in range(8)]), unique=True, max_size=8)


@settings(max_examples=40)
@given(_WORDS, _WORDS)
def test_of_words_that_stand_once_it_is_the_formula(ours: list[str], theirs: list[str]) -> None:
    pairs = [(at, theirs.index(word)) for at, word in enumerate(ours) if word in theirs]
    found = scored(" ".join(ours), " ".join(theirs))
    if not pairs:
        assert found == 0
        return
    breaks = sum(b != (a[0] + 1, a[1] + 1) for a, b in pairwise(pairs))
    precision, recall = len(pairs) / len(ours), len(pairs) / len(theirs)
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    assert found == pytest.approx(mean * (1 - 0.5 * ((breaks + 1) / len(pairs)) ** 3))


@settings(max_examples=40)
@given(st.text(max_size=40), st.lists(st.text(max_size=40), min_size=1, max_size=3))
def test_it_is_a_share_and_the_best_reference_s(text: str, references: list[str]) -> None:
    found = scored(text, *references)
    assert 0 <= found <= 1
    assert found == max(scored(text, reference) for reference in references)


def test_the_assertion_compares_with_its_threshold_and_says_how_it_measured() -> None:
    result = one("on the mat sat the cat", value=CAT)
    assert (result.passed, result.value) == (True, 0.5)
    assert result.message == "METEOR (words and stems, no synonyms) is 0.500, 0.5 wanted"
    assert one("on the mat sat the cat", value=CAT, threshold=0.6).passed is False
    assert one("on the mat sat the cat", value=["no", CAT], gamma=0).value == 1
    assert one("dogs bark", value=CAT, type="not-meteor").passed is True


def test_the_case_s_reference_is_compared_with_where_nothing_else_is_given() -> None:
    assert one(CAT, reference=CAT).passed is True
    assert "nothing to compare with" in str(one(CAT, type="not-meteor").error)


def test_a_long_text_costs_at_most_its_time_limit() -> None:
    text, other = (" ".join(f"{c}{n}ing" for n in range(40_000)) for c in "ab")
    result = one(text, value=other, timeout_s=0.3)
    assert "was stopped" in str(result.error)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"value": []}, "at least 1 item"),
        ({"value": ["a", 3]}, "`value` [1] must be a valid string, not 3"),
        ({"alpha": 1.1}, "`alpha` must be less than or equal to 1"),
        ({"beta": -1}, "`beta` must be greater than or equal to 0"),
        ({"gamma": float("nan")}, "`gamma` must be a finite number"),
        ({"synonyms": "yes"}, "`synonyms` must be a valid boolean"),
    ],
)
def test_unsound_parameters_are_told(fields: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError) as caught:
        check_specs([{"type": "meteor", **fields}])
    assert what in str(caught.value)


def test_without_the_extra_a_spec_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nltk", None)
    with pytest.raises(InputError, match="needs nltk, which is not installed") as caught:
        check_specs([{"type": "not-meteor", "value": "a", "synonyms": True}])
    assert caught.value.hint == 'pip install "judgekit-llm[meteor]"'


def test_nothing_of_nltk_is_loaded_where_specs_are_read() -> None:
    code = (
        "import sys; from judgekit.assertions.spec import check_specs; "
        "check_specs([{'type': 'meteor', 'value': 'a'}, {'type': 'bleu', 'value': 'a'}]); "
        "print('nltk' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder where nltk looks for its data; nothing of WordNet is kept after the test."""
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    wordnet._unload()
    yield tmp_path
    wordnet._unload()


def write_wordnet(data: Path) -> None:
    """A WordNet of one set: `car` and `auto`."""
    folder = data / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    for name in ("cntlist.rev", "index.sense"):
        (folder / name).touch()
    (folder / "lexnames").write_text("00\tnoun.artifact\t1\n")
    for part in ("adj", "adv", "noun", "verb"):
        for name in (f"index.{part}", f"data.{part}", f"{part}.exc"):
            (folder / name).touch()
    (folder / "data.noun").write_text(NOUN)
    lines = (f"{word} n 1 0 1 0 00000000\n" for word in ("car", "auto"))
    (folder / "index.noun").write_text("".join(lines))


def test_synonyms_count_where_wordnet_is_on_the_machine(data: Path) -> None:
    assert scored("car", "auto") == 0
    write_wordnet(data)
    assert wordnet_fault() is None
    assert scored("a car", "a auto", synonyms=True) == pytest.approx(15 / 16)
    assert scored("a car", "a auto") == 0.25


def test_without_wordnet_synonyms_are_refused_with_what_to_do(data: Path) -> None:
    assert data.is_dir()
    fault = str(wordnet_fault())
    assert "which are not on this machine" in fault
    assert "python -m nltk.downloader wordnet" in fault
