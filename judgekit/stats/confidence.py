"""Confidence of a judge from repeated votes, token probabilities, and pooled log-odds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, isnan, log, nan, sqrt

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Counted, Figure, Result, by_place, finite_floats, is_missing
from judgekit.stats.quantiles import SLACK

_CLIP = 1e-6
_MISSING_MASS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteConfidence(Counted):
    """How far several votes of one judge agree."""

    agreement: float
    """Share of the commonest vote."""

    entropy: float
    """Entropy of the votes, in nats; too small by about (labels seen - 1) / (2 n)."""

    normalized: float
    """1 - entropy / ln(size of the scale): 1 all agree, 0 spread evenly."""

    pair_agreement: float
    """Share of pairs of votes that agree; nan for one vote."""

    mode: tuple[Hashable, ...]
    """The commonest votes; more than one where they tie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedScore(Result):
    """The mean of the distribution over scores that a judge's token probabilities give."""

    value: float
    """Mean over the tokens on the scale; nan where none is."""

    mass: float
    """Probability of all tokens on the scale."""

    mode: float
    """The likeliest score; the lower of two as likely."""

    sd: float
    """Standard deviation of the distribution."""

    low: float
    """The mean if the missing mass were all at the lower end: a bound, no interval."""

    high: float
    """The mean if the missing mass were all at the upper end."""

    probabilities: tuple[tuple[float, float], ...]
    """Pairs of score and probability, made to sum to 1."""

    reason: str | None = None
    note: str | None = None


def vote_confidence(votes: Sequence[Hashable], labels: Sequence[Hashable]) -> VoteConfidence:
    """How far several votes of one judge on one question agree.

    Args:
        votes: Votes; None and nan are missing.
        labels: The whole scale, labels without a vote included: it defines "spread evenly".

    Returns:
        The measures. With few votes they can take few values.

    Raises:
        ValueError: When a vote is not on the scale, or the scale has fewer than two labels.
    """
    known = [vote for vote in by_place(votes) if not is_missing(vote)]
    if len(set(labels)) < 2:  # noqa: PLR2004 - one label leaves nothing to vote on
        raise ValueError("a scale needs two different labels")
    strange = sorted({repr(vote) for vote in known if vote not in set(labels)})
    if strange:
        raise ValueError(f"{', '.join(strange)} is not on the scale {list(labels)}")
    if not known:
        raise NotEnoughDataError("no votes to count")
    counts, n = Counter(known), len(known)
    most = max(counts.values())
    # + 0.0 turns the -0.0 of a unanimous vote into 0.0.
    entropy = -fsum(c / n * log(c / n) for c in counts.values()) + 0.0
    pairs = sum(c * (c - 1) for c in counts.values())
    return VoteConfidence(
        agreement=most / n,
        entropy=entropy,
        normalized=1 - entropy / log(len(set(labels))),
        pair_agreement=pairs / (n * (n - 1)) if n > 1 else nan,
        mode=tuple(label for label in dict.fromkeys(labels) if counts[label] == most),
        n=n,
        n_missing=len(votes) - n,
    )


def expected_score(token_logprobs: Mapping[str, float], scale: Sequence[float]) -> ExpectedScore:
    """The mean score under the judge's token probabilities (Liu et al. 2023, "G-Eval").

    Tokens count that are a score of the scale once blanks are stripped; their probabilities are
    made to sum to 1. Take the tokens at the place of the score, after the rationale; scores of
    two digits are two tokens and cannot be read this way.

    Args:
        token_logprobs: Natural log-probability of each candidate token at that place.
        scale: The scores.

    Returns:
        The mean, and how far the mass on other tokens could move it.

    Raises:
        ValueError: When the scale has fewer than two scores, or a log-probability is above 0.
    """
    levels = {f"{score:g}": float(score) for score in scale}
    if len(levels) < 2:  # noqa: PLR2004 - one score leaves nothing to judge
        raise ValueError("a scale needs two different scores")
    if any(not lp <= SLACK for lp in token_logprobs.values()):
        raise ValueError("a log-probability is above 0 or missing")
    masses = dict.fromkeys(sorted(levels.values()), 0.0)
    for token, logprob in token_logprobs.items():
        if token.strip() in levels:
            # " 4" and "4" are two tokens and one score: their masses add.
            masses[levels[token.strip()]] += exp(logprob)
    total = fsum(masses.values())
    if not total > 0:
        return ExpectedScore(
            value=nan, mass=0.0, mode=nan, sd=nan, low=min(masses), high=max(masses),
            probabilities=(), reason="no token is a score of the scale",
        )  # fmt: skip
    share = {score: mass / total for score, mass in masses.items()}
    value = fsum(score * p for score, p in share.items())
    # The unknown mass could lie on either end of the scale: these are the bounds of the mean.
    rest, on_scale = max(0.0, 1 - total), min(1.0, total)
    return ExpectedScore(
        value=value,
        mass=total,
        mode=max(share, key=lambda score: share[score]),
        sd=sqrt(fsum(p * (score - value) ** 2 for score, p in share.items())),
        low=on_scale * value + rest * min(share),
        high=on_scale * value + rest * max(share),
        probabilities=tuple(share.items()),
        note=f"{rest:.0%} of the mass lies on other tokens" if rest > _MISSING_MASS else None,
    )


def pool_logit(probs: Sequence[float | None], weights: Sequence[float] | None = None) -> Figure:
    """The weighted mean of log-odds, as a probability (Genest & Zidek 1986, logarithmic pool).

    Args:
        probs: Probabilities in [0, 1], moved to 1e-6 or 1 - 1e-6 where nearer to an end; None and
            nan are left out with their weight.
        weights: Weight of each, 0 or more; equal without.

    Returns:
        The pooled probability; nan with a reason where none is known.
    """
    every = [1.0] * len(probs) if weights is None else finite_floats(weights)
    if len(every) != len(probs) or any(not w >= 0 for w in every):
        raise ValueError("each probability needs a weight of 0 or more")
    known = [(p, w) for p, w in zip(finite_floats(probs), every, strict=True) if not isnan(p)]
    if any(not 0 <= p <= 1 for p, _ in known):
        raise ValueError("a probability lies outside 0..1")
    total = fsum(w for _, w in known)
    if not total > 0:
        return Figure(value=nan, method="mean log-odds", reason="no probability with a weight")
    # One vote of exactly 0 or 1 has infinite odds and would silence all others.
    clipped = [(min(1 - _CLIP, max(_CLIP, p)), w) for p, w in known]
    odds = fsum(w * log(p / (1 - p)) for p, w in clipped) / total
    return Figure(value=1 / (1 + exp(-odds)), method="mean log-odds")
