"""What an audit's answers took, gradings and comparisons together, and where they failed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from judgekit.evaluation.comparing.summary import one_per_reply
from judgekit.evaluation.figures.summary import Spent, spent_on
from judgekit.records.comparison import PreferenceFailure
from judgekit.records.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.evaluation.auditing.asking import PairSaid
    from judgekit.records.comparison import Preference
    from judgekit.records.judgment import JudgeFailure, Judgment

    Failure = JudgeFailure | PreferenceFailure
    Said: TypeAlias = Verdict | PairSaid


def failures_in(answer: Said) -> Sequence[Failure]:
    """What the judge failed to say in one answer."""
    if isinstance(answer, Verdict):
        return answer.failures
    return [one for one in answer if isinstance(one, PreferenceFailure)]


def told_failures(answers: Iterable[Said]) -> tuple[dict[str, int], dict[str, str]]:
    """Failures by kind, and what the first of each kind says."""
    failures = [failure for answer in answers for failure in failures_in(answer)]
    counts = Counter(str(failure.kind) for failure in failures)
    return dict(counts.most_common()), {str(f.kind): f.message for f in reversed(failures)}


def models_in(answers: Iterable[Said]) -> tuple[str, ...]:
    """The models that answered, in the providers' words."""
    names: dict[str, None] = {}
    for answer in answers:
        said = answer.judgments if isinstance(answer, Verdict) else answer
        for one in said:
            model = None if isinstance(one, PreferenceFailure) else one.model
            if model:
                names[model] = None
    return tuple(names)


def spent_in(answers: Iterable[Said]) -> Spent:
    """What answers took."""
    judgments: list[Judgment] = []
    failures: list[JudgeFailure] = []
    pairs: list[PairSaid] = []
    for answer in answers:
        if isinstance(answer, Verdict):
            judgments += answer.judgments
            failures += answer.failures
        else:
            pairs.append(answer)
    return _sum(spent_on(judgments, failures), _pair_spent(pairs))


def _pair_spent(pairs: Iterable[PairSaid]) -> Spent:
    """Questions that share a reply (joint mode) share its cost already."""
    replies: list[Preference | PreferenceFailure] = []
    parts: list[Preference | PreferenceFailure] = []
    for said in pairs:
        replies += one_per_reply(list(said))
        parts += said
    bought = [one for one in parts if not one.cached and one.n_calls]
    usages = [one.usage for one in bought if one.usage is not None]
    return Spent(
        n_replies=sum(one.n_calls for one in replies),
        n_cached=sum(one.n_calls for one in replies if one.cached),
        cost_usd=sum(one.cost_usd or 0.0 for one in bought),
        saved_usd=sum(one.price_usd or 0.0 for one in parts if one.cached),
        cost_unknown=any(one.cost_usd is None for one in bought),
        input_tokens=sum(usage.input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
    )


def _sum(a: Spent, b: Spent) -> Spent:
    return Spent(
        n_replies=a.n_replies + b.n_replies,
        n_cached=a.n_cached + b.n_cached,
        cost_usd=a.cost_usd + b.cost_usd,
        saved_usd=a.saved_usd + b.saved_usd,
        cost_unknown=a.cost_unknown or b.cost_unknown,
        input_tokens=a.input_tokens + b.input_tokens,
        output_tokens=a.output_tokens + b.output_tokens,
    )
