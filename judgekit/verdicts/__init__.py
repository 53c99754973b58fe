"""The only place that decides what judgments come to: value, pass, winner, and their bounds."""

from __future__ import annotations

from judgekit.verdicts.comparing import conclude_comparison
from judgekit.verdicts.concluding import conclude
from judgekit.verdicts.deciding import checked_value, decide, decide_strategy, reaches
from judgekit.verdicts.reconciling import Reconciled, Vote, reconcile

__all__ = [
    "Reconciled",
    "Vote",
    "checked_value",
    "conclude",
    "conclude_comparison",
    "decide",
    "decide_strategy",
    "reaches",
    "reconcile",
]
