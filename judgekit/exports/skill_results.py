"""Writes a skill's results (S3): gradings, histories, comparisons and analyses."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor, isnan
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from judgekit import evaluation, formats, prompts, records
from judgekit.atomic_write import check_output_path, make_folder
from judgekit.errors import StoreError
from judgekit.exports.tabular import (
    RunFormat,
    checks_without_judgment,
    write_json_list,
    write_object,
)

if TYPE_CHECKING:
    from judgekit.evaluation import Outcome, RunSummary
    from judgekit.records import ComparedPair, ComparisonInfo, JsonObject, RunInfo

# The shipped rubrics that are judged beside the expectations, and have places of their own.
_CONVENTIONS_RUBRIC, _REVIEW_RUBRIC = "skill_conventions.", "skill_review."
_CLAIMS, _FEEDBACK = f"{_REVIEW_RUBRIC}executor_claims", f"{_REVIEW_RUBRIC}eval_feedback"
_BESIDE = (_CONVENTIONS_RUBRIC, _REVIEW_RUBRIC)
# The lines of the template `pointwise/claims`.
_NO_CLAIMS = "No claims."
_CLAIM = re.compile(r"(true|false)\s*\|\s*([^|]+?)\s*\|\s*(.+)", re.IGNORECASE)

_NOT_CHECKED = "not checked: the run has no criterion or assertion of this name"


@dataclass(frozen=True, slots=True)
class _Line:
    criterion: str
    exact: float | None  # the score from 1 to 5, not rounded; None where it is unknown
    required: bool
    reasoning: str

    @property
    def score(self) -> int | None:
        """The whole score; rounding never lifts a score to the pass mark."""
        if self.exact is None:
            return None
        if self.exact < formats.PASS_SCORE - records.VALUE_TOLERANCE:
            return min(formats.PASS_SCORE - 1, _rounded(self.exact))
        return _rounded(self.exact)

    @property
    def passed(self) -> bool | None:
        score = self.score
        return None if score is None else score >= formats.PASS_SCORE


def grading(answer: Outcome, run: RunInfo) -> JsonObject:
    # A criterion's score is its value on the scale from 1 to 5, rounded; it passes from 3, which is
    # the value 0.5. An assertion is a required criterion with 5 or 1. A criterion without judgment
    # has the score null, not 1, and `overall_score` and `overall` are null where it could change
    # them.
    result = answer.result
    every = [*_criteria(answer, run), *_assertions(answer)]
    lines = [line for line in every if not line.criterion.startswith(_BESIDE)]
    required = [line for line in lines if line.required]
    metadata = result.output.metadata
    summary = metadata.get("user_notes_summary")
    # Pass only where every required criterion passed; a case may have none.
    decisive = [line.passed for line in required] or [answer.passed]
    overall = None if None in decisive else "pass"
    return {
        "case_id": result.case.id,
        "version": version_of(result.variant, run),
        "run": result.repeat + 1,
        "overall_score": _mean(lines),
        "required_score": _mean(required),
        "results": [
            {
                "criterion": line.criterion,
                "score": line.score,
                "passed": line.passed,
                "reasoning": line.reasoning,
            }
            for line in lines
        ],
        "overall": "fail" if False in decisive else overall,
        "convention_compliance": {name: _convention(name, every) for name in formats.CONVENTIONS},
        "claims": claims(answer),
        "user_notes_summary": summary if isinstance(summary, str) else "",
        "eval_feedback": eval_feedback(answer, evaluation.rubric_of_result(answer.result, run)),
        "execution_metrics": execution_metrics(result.output),
        "judgekit": {
            "run_id": result.run_id,
            "variant": result.variant,
            "passed": answer.passed,
            "value": answer.value,
            "error": result.output.error,
        },
    }


def _write_gradings(path: Path, run: RunInfo, answers: Iterable[Outcome]) -> None:
    def named() -> Iterator[tuple[str, JsonObject]]:
        for answer in answers:
            one = grading(answer, run)
            # The id without the characters that some file system refuses.
            stem = re.sub(r"[^\w.-]", "-", answer.result.case.id, flags=re.ASCII).lstrip(".")[:150]
            yield f"{stem or 'case'}_v{one['version']}_run{one['run']}.json", one

    hint = "give the cases ids that differ in letters and digits, or write .jsonl"
    _write_each(path, named(), "answers", hint)


def _write_each(folder: Path, named: Iterable[tuple[str, JsonObject]], what: str, hint: str) -> int:
    if folder.suffix.lower() in GRADING.suffixes and not folder.is_dir():
        return write_json_list(folder, (item for _, item in named), one_alone=True)
    make_folder(folder)
    written: set[str] = set()
    for name, item in named:
        # Two names that differ only in case are one file on macOS and Windows.
        if name.lower() in written:
            raise StoreError(f"two {what} would both be written to {name}", hint=hint)
        written.add(name.lower())
        write_object(folder / name, item)
    return len(written)


GRADING = RunFormat(
    "grading",
    "grading.json, scores 1 to 5 (.json, .jsonl, or a folder with a file for each)",
    (".json", ".jsonl"),
    "gradings",
    _write_gradings,
    may_be_folder=True,
    file_names=("grading.json",),
)


def version_of(variant: str, run: RunInfo) -> int:
    """The number in a variant's name (`v2`), else its place in the suite."""
    names = [each.id for each in run.variants]
    numbers = [int(found[1]) for name in names if (found := re.fullmatch(r"v?(\d{1,9})", name))]
    if len(numbers) == len(names) and len(set(numbers)) == len(names) and variant in names:
        return numbers[names.index(variant)]
    return names.index(variant) if variant in names else len(names)


def _criteria(answer: Outcome, run: RunInfo) -> Iterator[_Line]:
    rubric = evaluation.rubric_of_result(answer.result, run)
    if answer.verdict is None or rubric is None:
        return
    for criterion in answer.verdict.criteria:
        why = [j.rationale for j in answer.verdict.judgments if j.criterion == criterion.name]
        why += [
            f"no judgment: {f.message}"
            for f in answer.verdict.failures
            if f.criterion == criterion.name
        ]
        value = criterion.value
        exact = None if value is None else _exact_score(value)
        reasoning = "\n".join(why) or "nobody has judged it"
        yield _Line(criterion.name, exact, criterion.required, reasoning)


def _assertions(answer: Outcome) -> Iterator[_Line]:
    scores = {None: None, True: float(formats.HIGHEST_SCORE), False: float(formats.LOWEST_SCORE)}
    for check in checks_without_judgment(answer.result):
        name = check.type or "assertion"
        yield _Line(name, scores[check.passed], required=True, reasoning=check.message)


def _mean(lines: Sequence[_Line]) -> float | None:
    # A mean of some scores would be one of those that were easy to judge.
    scores = [line.score for line in lines if line.score is not None]
    if not lines or len(scores) < len(lines):
        return None
    return round(sum(scores) / len(scores), 1)


def _exact_score(value: float) -> float:
    return formats.LOWEST_SCORE + (formats.HIGHEST_SCORE - formats.LOWEST_SCORE) * value


def _rounded(score: float) -> int:
    """The nearest whole score; the better one of a half."""
    # `round` takes a half to the even number, 2.5 to 2 and 3.5 to 4.
    return max(
        formats.LOWEST_SCORE,
        min(formats.HIGHEST_SCORE, floor(score + 0.5 + records.VALUE_TOLERANCE)),
    )


def _convention(name: str, lines: Sequence[_Line]) -> JsonObject:
    own = [line for line in lines if line.criterion == f"{_CONVENTIONS_RUBRIC}{name}"]
    for line in own or lines:
        last = line.criterion.replace("-", "_").replace(" ", "_").lower().split(".")[-1]
        if last == name:
            return {"passed": line.passed, "details": line.reasoning}
    return {"passed": None, "details": _NOT_CHECKED}


def claims(answer: Outcome) -> list[JsonValue]:
    """The executor's claims as a judge checked them; else the judges' quotes, each looked up."""
    checked = [one for one in answer.result.judgments if one.criterion == _CLAIMS]
    if checked:
        lines = [line.strip() for one in checked for line in one.rationale.splitlines()]
        return [_checked_claim(line) for line in lines if line not in {"", _NO_CLAIMS}]
    found: dict[str, JsonValue] = {}
    for judgment in answer.result.judgments:
        for piece in judgment.evidence:
            where = "not found in the output"
            if piece.found:
                at = "" if piece.start is None else f" at characters {piece.start} to {piece.end}"
                where = f"found in the output{at}"
            about = f"{where}; quoted for {judgment.criterion}"
            claim: JsonObject = {"claim": piece.quote, "verified": piece.found, "evidence": about}
            found.setdefault(piece.quote, claim)
    return list(found.values())


def _checked_claim(line: str) -> JsonValue:
    # A line of another form is kept as it is: a claim that nobody can read was not verified.
    parts = _CLAIM.fullmatch(line)
    if parts is None:
        return {"claim": line, "verified": None, "evidence": ""}
    return {"claim": parts[2], "verified": parts[1].lower() == "true", "evidence": parts[3]}


def eval_feedback(answer: Outcome, rubric: records.Rubric | None) -> str:
    """What should be fixed in the test itself, as far as this answer shows it."""
    remarks = [
        f"The criterion {criterion.name} says {word!r}, which nothing can contradict: "
        "say what would be seen in the output."
        for criterion in (() if rubric is None else rubric.criteria)
        if (word := formats.vague_word(criterion.question))
    ]
    remarks += [
        f"The criterion {failure.criterion} could not be assessed from the output: "
        f"{failure.message}"
        for failure in answer.result.failures
        if failure.kind == "cannot_assess"
    ]
    remarks += [
        f"The assertion {check.type} could not be checked: {check.error}"
        for check in answer.result.checks
        if check.error is not None
    ]
    # A test that needs no change gets no feedback.
    remarks += [
        one.rationale
        for one in answer.result.judgments
        if one.criterion == _FEEDBACK and one.value < 1
    ]
    return "\n".join(dict.fromkeys(remarks))


def execution_metrics(output: records.Output) -> JsonObject:
    """How the output was made: its own `metrics`, else what judgekit measured."""
    metrics = output.metadata.get("metrics")
    if isinstance(metrics, dict):
        return metrics
    found: JsonObject = {}
    if output.duration_ms is not None:
        found["duration_ms"] = output.duration_ms
    if output.usage is not None:
        found |= output.usage.to_json()
    n_calls = sum(event.type == "tool_call" for event in output.trace)
    if n_calls:
        found["tool_calls"] = n_calls
    return found


_MINE = ("run_id", "variant")


def extended_history(summary: RunSummary, known: JsonObject | None = None) -> JsonObject:
    """A history with a version for each variant of a run."""
    # A version that a run has already is not added again: only its average is updated. The last
    # version added is the current one.
    history: JsonObject = {"versions": [], "current_version": 0} if known is None else {**known}
    listed = history["versions"]
    versions: list[JsonValue] = [*listed] if isinstance(listed, list) else []
    for figures in summary.variants:
        if figures.n_answers == 0:  # it was left out of what is written
            continue
        entry = _version(summary.run, figures.variant, figures.value.value)
        objects = [version for version in versions if isinstance(version, dict)]
        same = [old for old in objects if all(old.get(key) == entry[key] for key in _MINE)]
        if same:
            place = versions.index(same[0])
            versions[place] = {**same[0], "average_score": entry["average_score"]}
            continue
        number = version_of(figures.variant, summary.run)
        # A version that was set up before it was graded waits for its average.
        waiting = [
            old
            for old in objects
            if old.get("version") == number
            and old.get("average_score", "") is None
            and old.get("run_id") is None
        ]
        if waiting:
            found = {name: entry[name] for name in ("average_score", *_MINE)}
            versions[versions.index(waiting[0])] = {**waiting[0], **found}
            continue
        # The gradings have the same number; one in use is never given to a second version.
        used = {one for old in objects if isinstance(one := old.get("version"), int)}
        number = number if number not in used else 1 + max(used)
        versions.append({"version": number, **entry})
        history["current_version"] = number
    return {**history, "versions": versions}


def _write_history(path: Path, run: RunInfo, answers: Iterable[Outcome]) -> None:
    # A damaged history is refused rather than written over.
    known = formats.read_skill_history(path) if path.is_file() else None
    summary = evaluation.summarize_run((answer.result for answer in answers), run)
    write_object(path, extended_history(summary, known))


HISTORY = RunFormat(
    "history",
    "history.json, to which each variant is added as a version (.json)",
    (".json",),
    "a history",
    _write_history,
    file_names=("history.json",),
)


def _version(run: RunInfo, variant: str, value: float) -> JsonObject:
    known = next((each for each in run.variants if each.id == variant), None)
    prompt = None if known is None else known.prompt_version
    described = f"{run.suite}: {variant}" + (f" ({prompt})" if prompt else "")
    return {
        "timestamp": records.time_text(run.started_at).replace("+00:00", "Z"),
        "description": described + (f" - {run.notes}" if run.notes else ""),
        "git_hash": run.revision,
        "path": _version_path(run, variant),
        "average_score": None if isnan(value) else round(_exact_score(value), 4),
        "run_id": run.id,
        "variant": variant,
    }


def _version_path(run: RunInfo, variant: str) -> str | None:
    """The file of a variant's prompt or outputs, relative to the suite where it is below it."""
    mark = evaluation.variant_version_in(run, variant)
    named = None if mark is None else mark.prompt or mark.outputs
    is_below = named is not None and run.folder and Path(named).is_relative_to(run.folder)
    return Path(str(named)).relative_to(str(run.folder)).as_posix() if is_below else named


COMPARISON_NAME = "comparison.json"
check_comparison_place = partial(
    check_output_path, suffixes=(".json", ".jsonl"), what="comparisons", may_be_folder=True
)
_MOST_NAME = 80


def is_skill_file(path: Path | None) -> bool:
    """Whether a file's name makes it a `comparison.json`."""
    return path is not None and path.name.endswith(COMPARISON_NAME)


def side_labels(pair: ComparedPair, info: ComparisonInfo) -> tuple[str, str]:
    """The names of the first and the second side in a blind file: A and B in random order."""
    # Random for each case, or a reader could learn which side is the newer version.
    draw = random.Random(f"judgekit sides {info.label_seed} {pair.repeat} {pair.case.id}")
    return ("A", "B") if draw.random() < 0.5 else ("B", "A")  # noqa: PLR2004 - a fair coin


def skill_comparison(
    pair: ComparedPair, found: records.Comparison, info: ComparisonInfo
) -> JsonObject:
    # A score is the mean over both orders, rounded, or null. `winner` is null where failures leave
    # it open.
    letters = side_labels(pair, info)
    named = dict(zip(("a", "b"), letters, strict=True))
    scores: JsonObject = {}
    for one in found.criteria:
        raws = {named["a"]: one.raw_a, named["b"]: one.raw_b}
        scores[one.name] = {
            letter: None if (raw := raws[letter]) is None else floor(raw + 0.5)
            for letter in ("A", "B")
        }
    return {
        "eval_prompt": prompts.to_text(pair.case.input),
        "winner": named.get(found.winner or "", found.winner),
        "reasoning": _reasoning(found, named),
        "scores": scores,
        "judgekit": {
            "comparison": info.id,
            "case_id": pair.case.id,
            "repeat": pair.repeat,
            "consistent": found.consistent,
            "rule": found.rule,
            "judge": info.judge,
            "rubric": info.rubric.name,
            "error": found.error,
        },
    }


def write_comparisons(
    path: Path, info: ComparisonInfo, pairs: Iterable[tuple[ComparedPair, records.Comparison]]
) -> int:
    """Write compared pairs as comparisons; every file is replaced as a whole or not at all."""
    return _write_pairs(path, ((p, skill_comparison(p, found, info)) for p, found in pairs))


def _write_pairs(path: Path, items: Iterable[tuple[ComparedPair, JsonObject]]) -> int:
    check_comparison_place(path)
    named = []
    for pair, item in items:
        stem = "".join(c if c.isalnum() or c in "-_." else "_" for c in pair.case.id)[:_MOST_NAME]
        run = f"_run{pair.repeat + 1}" if pair.repeat else ""
        named.append((f"{stem}{run}.json", item))
    return _write_each(path, named, "comparisons", "write a .json file")


def _reasoning(found: records.Comparison, named: dict[str, str]) -> str:
    """The judge's overall reasons, or else those on the criteria, with what it saw first."""
    if found.error is not None:
        return f"Not judged: {found.error}"
    if found.is_identical:
        return "Both outputs are the same text."
    own = [one for one in found.preferences if one.criterion is None] or list(found.preferences)
    parts = []
    for one in own:
        about = "" if one.criterion is None else f"{one.criterion}, "
        first = named["a" if one.order == "ab" else "b"]
        parts.append(f"{about}{first} shown first: {one.rationale}")
    parts += [f"No answer: {failure.message}" for failure in found.failures[:1] if not parts]
    return "\n".join(parts)


def _skill_analysis(
    pair: ComparedPair, analysis: records.ComparisonAnalysis, info: ComparisonInfo
) -> JsonObject:
    a = pair.a.variant or info.a.variant or info.a.label
    b = pair.b.variant or info.b.variant or info.b.label
    winner, loser = (a, b) if analysis.winner == "a" else (b, a)
    suggestions: list[JsonValue] = [
        {
            **one.model_dump(include={"area", "before", "after", "reasoning"}),
            # A passage that the output lacks is marked; an addition has no passage to look up.
            "verified": one.found or not one.before,
        }
        for one in analysis.suggestions
    ]
    return {
        "winner_version": winner,
        "loser_version": loser,
        "strengths": [point.text for point in analysis.strengths],
        "weaknesses": [point.text for point in analysis.weaknesses],
        "suggestions": suggestions,
        "judgekit": {
            "comparison": info.id,
            "case_id": pair.case.id,
            "repeat": pair.repeat,
            "judge": analysis.judge,
            "strengths": _evidence(analysis.strengths),
            "weaknesses": _evidence(analysis.weaknesses),
        },
    }


def write_analyses(
    path: Path,
    info: ComparisonInfo,
    pairs: Iterable[ComparedPair],
    analyses: Mapping[int, records.ComparisonAnalysis],
) -> int:
    """Write analyses; every file is replaced as a whole or not at all."""
    known = [pair for pair in pairs if pair.place in analyses]
    return _write_pairs(path, ((p, _skill_analysis(p, analyses[p.place], info)) for p in known))


def _evidence(points: Iterable[records.AnalysisPoint]) -> list[JsonValue]:
    return [{"text": one.text, "quote": one.quote, "found": one.found} for one in points]
