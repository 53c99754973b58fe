"""Reads from log-probabilities how likely each score, or each choice of a comparison, was."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.models.request import ModelReply, TokenLogprob
    from judgekit.records import PreferenceSlot

_SCORE_FIELD = re.compile(r'(?<!\\)"score"\s*:\s*"?(-?\d+(?:\.\d+)?)(?![\d.eE])')
_SCORE_LEAD = re.compile(r'[\s":]+')
_DIGITS = re.compile(r"[-\d.]+")
_SAME = 1e-9

# A token less likely than this had others beside it, even where none is listed.
_SINGLE_TOKEN_MASS = 0.99

# More than this share of the scores' probability on tokens that may begin several scores, and there
# is no distribution.
_MOST_UNCLEAR = 0.01


@dataclass(frozen=True, slots=True)
class ScoreDistribution:
    """How likely each score of a scale was, where the reply gives its score."""

    expected_raw: float  # the probability-weighted raw score
    confidence: float
    """The probability of the score that was given, among the scores of the scale; in [0, 1]."""

    mass: float
    """How much probability fell on scores of the scale at all, in [0, 1]; what lies below the
    likeliest tokens the provider lists is not seen."""

    probabilities: tuple[tuple[float, float], ...]
    """Each score of the scale, worst first, and its probability among them; they sum to 1."""


def score_distribution(reply: ModelReply, points: Sequence[float]) -> ScoreDistribution | None:
    """The probability of each allowed score where the reply's JSON gives its score."""
    # Read at the last `"score"` of the reply, token by token as far as the scores differ: the
    # tokens `5`, ` 5`, `"5` and `5,` all stand for 5, and a score written in several tokens has the
    # product of their probabilities. A token that may begin several scores and was not followed up
    # (`1` on a scale to 10) is left out; where such tokens hold more than 1 % of the probability of
    # the scores, there is no answer. The probabilities are those the provider reports: some report
    # them as they were before a schema was enforced, which the mass shows.
    tokens = reply.logprobs or ()
    text = "".join(token.token for token in tokens)
    last, in_reply = (list(_SCORE_FIELD.finditer(t))[-1:] for t in (text, reply.text or ""))
    if not last or not in_reply or in_reply[0][1] != last[0][1]:
        return None
    number = last[0][1]
    score = _point(number, points)
    if score is None:
        return None
    weights = _ScoreMass(tuple(sorted(set(points))))
    weights.walk(_tokens_from(tokens, last[0].start(1)), number)
    return weights.distribution(score)


@dataclass(slots=True)
class _ScoreMass:
    """Probability found so far: on each score, and on tokens that may begin several."""

    points: tuple[float, ...]
    on: dict[float, float] = field(default_factory=dict)
    unclear: float = 0.0

    def walk(self, tokens: Sequence[TokenLogprob], number: str) -> None:
        """Follow the tokens of the number; at each, weigh the alternatives."""
        path, written = 1.0, ""
        for token in tokens:
            emitted, probability = token.token, _probability(token.logprob)
            others = {t: _probability(logprob) for t, logprob in token.top if t != emitted}
            if not others and probability < _SINGLE_TOKEN_MASS:
                break
            for other, its_probability in others.items():
                self._weigh(*_read_number(written, other), path * its_probability)
            path *= probability
            written, ended = _read_number(written, emitted)
            if not written:
                break
            if ended or len(self._that_begin(written)) == 1:
                self._weigh(number, True, path)
                return
        self.unclear = math.inf

    def distribution(self, score: float) -> ScoreDistribution | None:
        """The probabilities, renormalised over the scores."""
        mass = math.fsum(self.on.values())
        if mass <= 0 or self.unclear > _MOST_UNCLEAR * mass:
            return None
        shares = tuple((point, self.on.get(point, 0.0) / mass) for point in self.points)
        return ScoreDistribution(
            expected_raw=math.fsum(point * share for point, share in shares),
            confidence=min(1.0, self.on.get(score, 0.0) / mass),
            mass=min(1.0, mass + self.unclear),
            probabilities=shares,
        )

    def _weigh(self, number: str, ended: bool, probability: float) -> None:  # noqa: FBT001
        if not number.strip("-."):
            return
        if ended:
            point = _point(number, self.points)
            begun = [] if point is None else [point]
        else:
            begun = self._that_begin(number)
        if len(begun) == 1:
            self.on[begun[0]] = self.on.get(begun[0], 0.0) + probability
        elif begun:
            self.unclear += probability

    def _that_begin(self, number: str) -> list[float]:
        """The scores that can be written so that they begin with these digits."""
        return [
            point for point in self.points if any(w.startswith(number) for w in _spellings(point))
        ]


def _tokens_from(tokens: Sequence[TokenLogprob], start: int) -> Sequence[TokenLogprob]:
    """The tokens from the one that holds the character at `start`."""
    ends = accumulate(len(token.token) for token in tokens)
    return tokens[sum(end <= start for end in ends) :]


def _read_number(written: str, surface: str) -> tuple[str, bool]:
    """The number as it stands after a token, and whether the token ends it."""
    lead = _SCORE_LEAD.match(surface)
    digits = surface[lead.end() :] if lead else surface
    if written and digits != surface:
        return written, True
    match = _DIGITS.match(digits)
    number = match.group() if match else ""
    return written + number, not number or number != digits


def _probability(logprob: float) -> float:
    return math.exp(min(0.0, logprob))


def _point(number: str, points: Sequence[float]) -> float | None:
    try:
        value = float(number)
    except ValueError:
        return None
    return next((point for point in points if abs(point - value) <= _SAME), None)


def _spellings(point: float) -> tuple[str, ...]:
    """How a score is written: `5`, `5.0` and `5.00`; `0.5`, `.5` and `0.50`."""
    plain = f"{point:g}"
    long = plain if "." in plain else f"{plain}."
    return (
        plain,
        f"{long}00",
        long.replace("0.", ".", 1) if long.lstrip("-").startswith("0.") else plain,
    )


_CHOICE_LEAD = " \t\n\"'`*_([:"

# With less probability on the choices than this, the tokens are not about the choice.
_LEAST_CHOICE_MASS = 0.5


@dataclass(frozen=True, slots=True)
class ChoiceDistribution:
    """How likely each choice was where the reply makes its own."""

    first: float  # the probability of the first, a tie counting half, among the choices; in [0, 1]
    confidence: float  # the probability of the choice that was made, among the choices; in [0, 1]
    mass: float  # how much probability fell on choices at all, in [0, 1]


def choice_distribution(
    reply: ModelReply, words: Mapping[str, PreferenceSlot], *, lead: str, made: PreferenceSlot
) -> ChoiceDistribution | None:
    """The probability of each choice, at the token that begins the one that was made."""
    tokens = reply.logprobs or ()
    text = "".join(token.token for token in tokens)
    matches = list(re.finditer(lead, text))
    if not matches or reply.text is None or reply.text.strip() not in text:
        return None
    # The token that holds the first character of the choice.
    rest = text[matches[-1].end() :].lstrip(_CHOICE_LEAD)
    token = next(iter(_tokens_from(tokens, len(text) - len(rest))), None)
    if token is None or _choice_of_token(token.token, words) != made:
        return None
    on: dict[PreferenceSlot, float] = {}
    alternatives = {token.token: token.logprob} | dict(token.top)
    for alternative, logprob in alternatives.items():
        slot = _choice_of_token(alternative, words)
        if slot is not None:
            on[slot] = on.get(slot, 0.0) + _probability(logprob)
    mass = math.fsum(on.values())
    if mass < _LEAST_CHOICE_MASS:
        return None
    first = on.get("first", 0.0) + on.get("tie", 0.0) / 2
    return ChoiceDistribution(
        first=min(1.0, first / mass), confidence=min(1.0, on[made] / mass), mass=min(1.0, mass)
    )


def _choice_of_token(token: str, words: Mapping[str, PreferenceSlot]) -> PreferenceSlot | None:
    """The choice a token begins; None where it begins none, or could begin several."""
    bare = token.strip().lstrip(_CHOICE_LEAD)
    if not bare:
        return None
    folded = bare if all(len(word) == 1 for word in words) else bare.casefold()
    found = {
        slot
        for word, slot in words.items()
        if word.startswith(folded) or re.match(rf"{re.escape(word)}(?!\w)", folded)
    }
    return found.pop() if len(found) == 1 else None
