"""What users choose from, for options, settings and records alike.

The help of a command needs these words, and must not load the engine for them.
"""

from __future__ import annotations

from typing import Literal

ReconciliationRule = Literal["consistent", "average"]
"""Who wins: with `consistent` the winner in both orders, else a tie; with `average` the output with
more than half of the points of both orders."""

PanelCombination = Literal["mean", "median", "majority", "weighted", "cascade"]
"""How the scores of several judges are combined for a criterion."""

PairChoice = Literal["round-robin", "adaptive"]
"""Which pairs a ranking compares next."""

PreferenceSlot = Literal["first", "second", "tie"]
"""A judge's choice: the output shown first, the one shown second, or a tie."""

Ties = Literal["half", "davidson", "rao-kupper"]
"""What a tie is: half a win for each, or an outcome of its own with a modelled chance."""

Tier = Literal["production", "development", "experimental"]
"""How strict a gate is (S2.2)."""

GateRule = Literal["interval", "point"]
"""Whether confidence intervals decide, or measured values alone."""

BaselineName = Literal["previous", "best", "accepted"]
"""Baselines that are found among the runs of the suite; any other name is the id of a run."""

TrendMeasure = Literal["score", "pass_rate"]
"""What is followed from run to run."""

Consensus = Literal["median", "mean", "majority"]
"""How several annotators combine to one label."""

DEFAULT_CONSENSUS: Consensus = "median"
"""What a calibration and a tuning take where nothing is chosen."""

DEFAULT_PRIOR = 10.0
"""N of the prior Beta(N, N) of the share of wins: expects rates of .4 to .6, as `win_e_value`."""

COMPARISON_ID_PREFIX = "cmp-"
"""How the id of a stored comparison begins; no id of a run does."""

RECORDED_PREFIX = "recorded:"
"""How a model that replies from a file is named, before the path of the file."""
