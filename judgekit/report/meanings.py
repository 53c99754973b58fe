"""What each statistic of a page means for its reader: the tooltips of column heads and labels.

The tooltip of a cell has its method, its sample size and what is missing.
"""

from __future__ import annotations

import re

_LEVEL = re.compile(r", [\d.]+ %$")

_MEANINGS = {
    # Rates, means and differences
    "rate": "Pass rate: the share of decided answers that pass. The brackets hold the interval in "
    "which the true rate lies with the stated confidence (Wilson, or clustered by case).",
    "pass rate": "The share of decided answers that pass, with its interval.",
    "passed": "Answers that pass of those that were decided; +n? are undecided and not counted.",
    "value": "The weighted mean of the criteria on a scale from 0 to 1, averaged over the cases, "
    "with its interval. Missing judgments are left out and never count as 0.",
    "score": "The mean value from 0 to 1, with its interval.",
    "criterion mean": "The mean of this criterion on a scale from 0 to 1, with its interval.",
    "difference": "The second variant less the first on the same cases. Where the interval "
    "includes 0, the data do not show which is better.",
    "p": "How often a difference at least this large would appear by chance if there were none. "
    "Of several tests it is adjusted (Holm). A large p does not show that two sides are equal.",
    "cases": "Cases that the figures rest on; fewer than 10 say little.",
    "n": "Outputs that the figures rest on; fewer than 10 say little.",
    "detectable": "The smallest true difference that so many cases would show in 80 % of attempts. "
    "Smaller ones may exist and stay unseen.",
    # Comparisons and rankings
    "a wins": "Cases on which A is preferred in both orders.",
    "b wins": "Cases on which B is preferred in both orders.",
    "ties": "Cases on which neither is preferred; each counts as half a win for both.",
    "flips": "Verdicts that change when the two outputs swap places: they show the judge's "
    "position bias or indecision, not a difference between the outputs.",
    "a's share": "The share of wins of A, ties counted as half. Where the interval includes 50 %, "
    "the comparison does not decide which is better.",
    "position": "How often the output shown first is preferred. 50 % is no bias. Both orders are "
    "judged, so that it does not decide who wins.",
    "position bias": "By how many points the output shown first is preferred; 0 is no bias.",
    "sequential": "A test that stays valid when it is read after each case. An e-value of 20 or "
    "more is evidence at the level of 5 %.",
    "anytime": "A confidence sequence: an interval that stays valid however often it is looked at.",
    "length": "The share of wins that would be left if both outputs were equally long (a logistic "
    "model of length): what a taste for long answers adds is taken out.",
    "b - a": "B less A on the same cases, with its interval. Where it includes 0, the data do not "
    "show which is better.",
    "effect": "The mean difference in standard deviations of the differences (Cohen's d of pairs): "
    "about 0.2 is small, 0.5 medium, 0.8 large.",
    "strength": "The strength by Bradley and Terry's model, as log-odds: one more than another "
    "means that it wins about 73 % of their comparisons. Only differences have a meaning.",
    "elo": "The same strength on the scale of Elo: 400 more means odds of 10 to 1.",
    "wins": "The share of wins over all its comparisons, ties counted as half.",
    "rank": "The range of places that the comparisons allow; a range of one place is certain.",
    "p to next": "How often chance alone would separate it so far from the next one; adjusted "
    "for the number of pairs.",
    "panel": "How far the judges agree; alpha corrects for agreement by chance.",
    "bounds": "The least and the most that the figure could be, whatever the missing answers are.",
    # Calibration
    "kappa": "Cohen's kappa: agreement beyond chance. 1 is full agreement, 0 what chance gives; "
    "above 0.6 is often called substantial. On ordered scales near misses count in part.",
    "weighted kappa": "Agreement of both judges beyond chance; near misses count in part.",
    "alpha": "Krippendorff's alpha: agreement of the annotators beyond chance. 1 is full "
    "agreement, 0 chance; below 0.67 the labels support only tentative conclusions.",
    "same score": "The share of outputs on which judge and humans give exactly the same score.",
    "judge - human": "The judge's score less the human one, on average. Above 0 the judge is too "
    "lenient, below 0 too strict.",
    "calibration: human": "How often one annotator gives another's score.",
    "calibration: judge": "How often the judge gives an annotator's score.",
    "gap": "How much more often the judge agrees with a human than humans agree with each other. "
    "Around 0 or above, the judge is as good as another annotator.",
    "agreement": "The share of outputs that judge and humans both pass or both fail.",
    "tpr": "True positive rate: of what humans pass, the share that the judge passes.",
    "tnr": "True negative rate: of what humans fail, the share that the judge fails. A low one "
    "means that the judge lets bad outputs through.",
    "judge / human": "The pass rates of both; where they differ, the judge is lenient or strict.",
    "all outputs": "Spearman's rank correlation of scores: 1 is the same order, 0 no relation.",
    "within a case": "Spearman's rank correlation among the outputs of one case.",
    "the variants": "Spearman's rank correlation of the variants' means: whether the judge would "
    "choose the same variant.",
    "judge alone": "The figure by the judge's own scores, with the judge's errors in it.",
    "corrected": "The judge's figure corrected by the human labels (prediction-powered inference, "
    "PPI): unbiased where the labelled outputs are a random sample.",
    "labels alone": "The figure of the labelled outputs only: unbiased, but less certain.",
    "labels saved": "How many further labels would be needed without the judge for an interval "
    "as narrow.",
    "precision": "Of the judge's choices of a level, the share that humans made too.",
    "recall": "Of the human choices of a level, the share that the judge made too.",
    "f1": "The harmonic mean of precision and recall.",
    "right": "The share of outputs on which the judge decides as humans do.",
    "confidence, review and further labels": "Calibration error (ECE): how far the stated "
    "confidence is from the share that is right, on average; 0 is perfect. AUROC: how well "
    "confidence separates right from wrong; 0.5 is chance, 1 perfect.",
    "can it replace a human annotator?": "The alternative annotator test: the judge replaces an "
    "annotator where it represents the others at least as well as that annotator does.",
    # A changed judge
    "churn": "The share of verdicts that another judge changes.",
    "now - before": "The value by the new judge less that by the old one; it does not say which of "
    "them is right.",
    "distance": "The mean squared distance from the human labels; smaller is better.",
    # Trends
    "direction": "Of the last five comparable runs: improving or degrading where nearly all pairs "
    "of them move the same way (Kendall's S) and they differ by more than 5 %.",
    "trend: test": "Mann and Kendall's test of a steady direction over all comparable runs, with "
    "the slope of Theil and Sen: the median change from one run to the next.",
    "level": "Where the figure most likely changed its level: the split of the runs with the "
    "largest difference, tested by shuffling them.",
    "cusum": "The sum of shortfalls from the first eight runs: it finds a small lasting drop that "
    "no single run shows.",
    "break": "Judge, rubric, template or cases changed: figures before and after are not compared.",
    # Audits
    "bias audit: effect": "What the probe changed, and in what the judge's answer was measured.",
    "bias audit: found": "By how much the judge's answer changes, with its interval; 0 is no bias.",
    "bias audit: result": "Material: certainly larger than the negligible band. None seen: "
    "certainly within it. Inconclusive: the interval reaches across its edge, so more cases are "
    "needed.",
    # What goes with scores
    "share of variance": "Shapley's share of the explained variance (LMG): how much of the "
    "variation of scores goes with it. An association, not a cause. The line is what chance gives.",
    "by chance": "The share that a predictor without any relation would get.",
    "alone": "The share that it explains without the others.",
    "beside all others": "What it adds to all the others.",
    # Plans and cost
    "can detect": "The smallest difference that a run of so many cases shows in 80 % of attempts.",
    "plan: calls": "Calls to the model that no cached reply answers.",
    "calls": "Replies of models, how many came from the cache, and what was paid and saved.",
    "evidence": "Quotes of the judge that stand in the outputs; others may be invented.",
    "calibration": "Whether the judge was compared with human labels, and whether maps that "
    "correct it apply to this run.",
    "flaky": "Cases that pass only in some of their attempts.",
}


def meaning_of(name: str, kind: str) -> str:
    """What a column or a label of a result of some kind means; empty where it needs no words."""
    term = _LEVEL.sub("", name).casefold()
    return _MEANINGS.get(f"{kind.casefold()}: {term}") or _MEANINGS.get(term, "")
