"""What a stored comparison comes to, worked out anew from what was observed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.comparing.asking import Compared
from judgekit.evaluation.comparing.decision import Looking
from judgekit.evaluation.comparing.pairing import LeftOut, Paired
from judgekit.evaluation.comparing.summary import ComparisonTally
from judgekit.judge.pair_questions import seen_pair
from judgekit.prompts.pair_rendering import SLOT_LABELS, drawn_labels
from judgekit.verdicts import conclude_comparison

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from judgekit.evaluation.comparing.figures import ComparisonSummary
    from judgekit.records.compared import ComparedPair, ComparisonInfo
    from judgekit.records.comparison import Comparison
    from judgekit.store.comparisons import StoredComparisons


def conclude_pair(pair: ComparedPair, info: ComparisonInfo) -> Comparison:
    """What was said of a stored pair comes to.

    Args:
        pair: The pair.
        info: Its comparison.

    Returns:
        The comparison of the two outputs, as it was told when it was made.
    """
    seen = seen_pair(pair.a, pair.b, info.names, scrubs=info.scrub)
    sides = (("a", pair.a), ("b", pair.b))
    errors = [f"output {side}: {output.error}" for side, output in sides if output.error]
    labels = drawn_labels(pair.case.id, info.label_seed) if info.draw_labels else SLOT_LABELS
    return conclude_comparison(
        info.rubric,
        pair.preferences,
        pair.failures,
        rule=info.rule,
        case_id=pair.case.id,
        variants=seen.variants,
        labels=labels,
        scrubbed=seen.scrubbed,
        is_identical=seen.is_identical and not errors,
        error="; ".join(errors) or None,
    )


def stored_pairs(
    store: StoredComparisons, info: ComparisonInfo
) -> Iterator[tuple[ComparedPair, Comparison]]:
    """The pairs of a stored comparison with what they come to.

    Args:
        store: Where it is kept.
        info: The comparison.

    Yields:
        Pairs that were asked whole, in their order; others have no conclusion.
    """
    for pair in store.compared(info.id):
        if pair.is_done:
            yield pair, conclude_pair(pair, info)


def summarize_comparison(
    store: StoredComparisons,
    comparison: ComparisonInfo | str = "latest",
    *,
    alpha: float | None = None,
    watch: Callable[[Comparison], None] | None = None,
) -> ComparisonSummary:
    """What a stored comparison comes to: wins, intervals, the decision.

    Args:
        store: Where it is kept.
        comparison: The comparison, its id, the beginning of it, or `latest`.
        alpha: The error a decision may have, in (0, 1); None takes the comparison's own.
        watch: Told of each pair's comparison on the way, in order.

    Returns:
        The figures. A comparison that was to stop as soon as it is decided is decided by the
        same look after each case.

    Raises:
        UnknownNameError: When there is no such comparison.
    """
    info = store.comparison(comparison) if isinstance(comparison, str) else comparison
    error = info.alpha if alpha is None else alpha
    tally = ComparisonTally(info.rubric, (info.a.label, info.b.label), alpha=error)
    looking = Looking(info.alpha, info.max_cases) if info.until_decided else None
    for pair, found in stored_pairs(store, info):
        if looking is not None and looking.is_over:
            break
        tally.take(Compared(Paired(pair.case, pair.a, pair.b, pair.repeat), found))
        if watch is not None:
            watch(found)
        if looking is not None:
            looking.look(found)
    return tally.summary(
        left_out=LeftOut(**info.left_out),  # type: ignore[arg-type]  # written by `new_comparison`
        evidence=None if looking is None else looking.evidence(),
    )
