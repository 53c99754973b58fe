"""Decides whether an output passes where a number of repeats has to pass, each by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.verdicts.concluding import conclude

if TYPE_CHECKING:
    from judgekit.records.rubric import Rubric
    from judgekit.records.verdict import Verdict


def passes_by_votes(verdict: Verdict, rubric: Rubric, min_pass: int) -> Verdict:
    """The verdict with `passed` by votes: each repeat is concluded by itself and has one."""
    repeats = {each.repeat for each in verdict.judgments} | {f.repeat for f in verdict.failures}
    votes = [_vote(verdict, rubric, repeat) for repeat in repeats]
    n_passed, n_open = votes.count(True), votes.count(None)
    passed = True if n_passed >= min_pass else None if n_passed + n_open >= min_pass else False
    return verdict.model_copy(update={"passed": passed})


def _vote(verdict: Verdict, rubric: Rubric, repeat: int) -> bool | None:
    judgments = [judgment for judgment in verdict.judgments if judgment.repeat == repeat]
    failures = [failure for failure in verdict.failures if failure.repeat == repeat]
    return conclude(rubric, judgments, failures).passed
