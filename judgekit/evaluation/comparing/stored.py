"""What a stored comparison comes to, worked out anew from what was observed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.comparing.asking import Compared
from judgekit.evaluation.comparing.decision import Looking
from judgekit.evaluation.comparing.keeping import in_order
from judgekit.evaluation.comparing.pairing import LeftOut, Paired
from judgekit.evaluation.comparing.summary import ComparisonTally
from judgekit.judge.pair_questions import seen_pair
from judgekit.judge.settings import check_rule
from judgekit.prompts.pair_rendering import SLOT_LABELS, drawn_labels
from judgekit.records.comparison import Preference, PreferenceFailure
from judgekit.verdicts import conclude_comparison

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from judgekit.evaluation.comparing.figures import ComparisonSummary
    from judgekit.records.compared import ComparedPair, ComparisonInfo
    from judgekit.records.comparison import Comparison, Rule
    from judgekit.store.comparisons import StoredComparisons


def conclude_pair(pair: ComparedPair, info: ComparisonInfo) -> Comparison:
    """What was said of a stored pair comes to."""
    seen = seen_pair(pair.a, pair.b, info.names, scrubs=info.scrub)
    sides = (("a", pair.a), ("b", pair.b))
    errors = [f"output {side}: {output.error}" for side, output in sides if output.error]
    labels = drawn_labels(pair.case.id, info.label_seed) if info.draw_labels else SLOT_LABELS
    said = in_order([*pair.preferences, *pair.failures], info)
    return conclude_comparison(
        info.rubric,
        [each for each in said if isinstance(each, Preference)],
        [each for each in said if isinstance(each, PreferenceFailure)],
        rule=info.rule,
        case_id=pair.case.id,
        variants=seen.variants,
        labels=labels,
        scrubbed=seen.scrubbed,
        is_identical=seen.is_identical and not errors,
        error="; ".join(errors) or None,
    )


def by_rule(info: ComparisonInfo, rule: Rule | None) -> ComparisonInfo:
    """A comparison as another rule concludes it: what was said is the same, and nobody is asked."""
    if rule is None:
        return info
    check_rule(rule)
    return info.model_copy(update={"rule": rule})


def stored_pairs(
    store: StoredComparisons, info: ComparisonInfo
) -> Iterator[tuple[ComparedPair, Comparison]]:
    """The pairs of a stored comparison with what they come to."""
    for pair in store.compared(info.id):
        if pair.is_done:
            yield pair, conclude_pair(pair, info)


def counted_pairs(
    store: StoredComparisons, info: ComparisonInfo, looking: Looking | None = None
) -> Iterator[tuple[ComparedPair, Comparison]]:
    """The pairs that the figures of a stored comparison rest on."""
    # Where it stopped as soon as it was decided, what was in flight then is kept, but not counted.
    own = looking_of(info) if looking is None else looking
    for pair, found in stored_pairs(store, info):
        if own is not None and own.is_over:
            return
        yield pair, found
        if own is not None:
            own.look(found)


def looking_of(info: ComparisonInfo) -> Looking | None:
    """Who looks after every case whether a comparison is decided; None where it asks all there is."""
    return Looking(info.alpha, info.max_cases) if info.until_decided else None


def summarize_comparison(
    store: StoredComparisons,
    comparison: ComparisonInfo | str = "latest",
    *,
    alpha: float | None = None,
    rule: Rule | None = None,
    watch: Callable[[Comparison], None] | None = None,
) -> ComparisonSummary:
    """What a stored comparison comes to: wins, intervals, the decision.

    Args:
        store: Where it is kept.
        comparison: The comparison, its id, the beginning of it, or `latest`.
        alpha: The error a decision may have, in (0, 1); None takes the comparison's own.
        rule: Who wins where the orders differ: `consistent` (nobody) or `average` (who is preferred
            by more than half of both); None takes the comparison's own.
        watch: Told of each pair's comparison on the way, in order.

    Returns:
        The figures. A comparison that was to stop as soon as it is decided is decided by the
        same look after each case.

    Raises:
        UnknownNameError: When there is no such comparison.
        SettingsError: When there is no such rule.
    """
    kept = store.comparison(comparison) if isinstance(comparison, str) else comparison
    info = by_rule(kept, rule)
    error = info.alpha if alpha is None else alpha
    tally = ComparisonTally(info.rubric, (info.a.label, info.b.label), alpha=error)
    looking = looking_of(info)
    for pair, found in counted_pairs(store, info, looking):
        tally.take(Compared(Paired(pair.case, pair.a, pair.b, pair.repeat), found))
        if watch is not None:
            watch(found)
    return tally.summary(
        left_out=LeftOut(**info.left_out),  # type: ignore[arg-type]  # written by `new_comparison`
        evidence=None if looking is None else looking.evidence(),
    )
