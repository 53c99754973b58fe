"""Asks a judge, after the verdict, why one output lost and what would improve it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from judgekit.judge.exchange import ask_judge, replace_surrogates, total_spending
from judgekit.models.request import ModelRequest, Subject
from judgekit.prompts import (
    IMAGE_MARKER,
    AnalysisTemplate,
    analysis_schema,
    locate_evidence,
    pairwise_text,
    parse_analysis,
)
from judgekit.records import AnalysisFailure, AnalysisPoint, AnalysisSuggestion, ComparisonAnalysis

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.judge.pairwise import Comparer
    from judgekit.prompts import AnalysisReply
    from judgekit.records import Case, Comparison, Output, Rubric

ANALYSIS_QUESTION = "analysis"
"""The subject of these requests names this in place of a criterion."""

_ONLY_VERDICTS = {"logprobs", "top_logprobs"}


@dataclass(frozen=True, slots=True)
class Analyst:
    """Asks the model of a comparer; its cache, its limits and its budget hold here too."""

    comparer: Comparer
    template: AnalysisTemplate

    @property
    def id(self) -> str:
        """Model and template."""
        return f"{self.comparer.model_name} {self.template.id}"

    async def analyse(
        self, case: Case, outputs: tuple[Output, Output], rubric: Rubric, found: Comparison
    ) -> ComparisonAnalysis | AnalysisFailure | None:
        """Ask why one of two outputs lost."""
        if found.winner not in {"a", "b"}:
            return None
        winner: Literal["a", "b"] = "a" if found.winner == "a" else "b"
        ordered = outputs if winner == "a" else (outputs[1], outputs[0])
        texts = pairwise_text(ordered[0], IMAGE_MARKER), pairwise_text(ordered[1], IMAGE_MARKER)
        answer = await ask_judge(
            self.comparer.model,
            self._request(case, ordered, texts, rubric, _reasons(found, winner)),
            lambda raw: parse_analysis(raw.text, raw.finish_reason),
            max_reasks=self.comparer.max_reasks,
        )
        spent = total_spending(answer.replies)
        if answer.readings is None:
            return AnalysisFailure(
                case_id=case.id,
                kind=answer.failure_kind,
                message=str(answer.error),
                cost_usd=spent.cost_usd,
            )
        reply: AnalysisReply = answer.readings
        return ComparisonAnalysis(
            case_id=case.id,
            winner=winner,
            strengths=tuple(_points(reply.strengths, texts[0])),
            weaknesses=tuple(_points(reply.weaknesses, texts[1])),
            suggestions=tuple(
                AnalysisSuggestion(
                    area=replace_surrogates(one["area"]),
                    before=replace_surrogates(one["before"]),
                    after=replace_surrogates(one["after"]),
                    reasoning=replace_surrogates(one["reasoning"]),
                    found=_stands_in(one["before"], texts[1]),
                )
                for one in reply.suggestions
            ),
            judge=self.id,
            cached=spent.cached,
            cost_usd=spent.cost_usd,
            reply_key=answer.replies[-1].key,
        )

    def _request(
        self,
        case: Case,
        ordered: tuple[Output, Output],
        texts: tuple[str, str],
        rubric: Rubric,
        reasons: str,
    ) -> ModelRequest:
        comparer = self.comparer
        known = [output.variant for output in ordered if output.variant]
        return ModelRequest(
            model=comparer.model_name,
            messages=self.template.messages(case, texts, rubric, reasons),
            images=(*case.images, *ordered[0].images, *ordered[1].images),
            parameters={k: v for k, v in comparer.parameters.items() if k not in _ONLY_VERDICTS},
            reply_schema=analysis_schema(),
            api_base=comparer.api_base,
            subject=Subject(
                case_id=case.id,
                variant=" vs ".join(known) if len(known) == len(ordered) else None,
                criterion=ANALYSIS_QUESTION,
            ),
        )


def _reasons(found: Comparison, winner: Literal["a", "b"]) -> str:
    """The judge's overall reasons, or else those on the criteria, from the better output's side."""
    own = [one for one in found.preferences if one.criterion is None] or list(found.preferences)
    lines = []
    for one in own:
        first = "better" if (one.order == "ab") == (winner == "a") else "other"
        about = "" if one.criterion is None else f"{one.criterion}, "
        lines.append(f"{about}with the {first} output shown first: {one.rationale}")
    return "\n".join(lines)


def _points(parsed: Iterable[dict[str, str]], text: str) -> Iterable[AnalysisPoint]:
    return [
        AnalysisPoint(
            text=replace_surrogates(one["text"]),
            quote=replace_surrogates(one["quote"]),
            found=_stands_in(one["quote"], text),
        )
        for one in parsed
    ]


def _stands_in(quote: str, text: str) -> bool:
    return any(one.found for one in locate_evidence([replace_surrogates(quote)], text))
