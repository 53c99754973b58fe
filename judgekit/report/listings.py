"""Builds the documents of what a store or the reply cache lists, and of the pairs of one case."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from judgekit import models, prompts, records  # loaded when used: lists of runs need none
from judgekit.report import message, numbers
from judgekit.report.document import (
    ANSWER_WORDS,
    Block,
    Cell,
    Column,
    ColumnKind,
    Conclusion,
    Document,
    LabelledText,
    Lines,
    Notes,
    Passage,
    Section,
    Table,
    fields_of,
    not_empty,
    page_path,
    table_of,
)
from judgekit.report.numbers import format_file_size

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from judgekit.evaluation import ApprovalStatus, Outcome, RunSummary
    from judgekit.models.cache import CacheEntry, CacheStats, KeyDifference
    from judgekit.records import (
        Approval,
        Case,
        ComparedPair,
        ComparedSide,
        Comparison,
        ComparisonAnalysis,
        ComparisonInfo,
        ComparisonStatus,
        JsonObject,
        RunInfo,
        ScoreComparisonInfo,
    )
    from judgekit.store import StoredJudgment

# In a listing a text only has to be recognised; `show RUN CASE` has all of it.
_TEXT_LENGTH = 60

_KINDS: dict[str, ColumnKind] = {
    **dict.fromkeys(("run", "comparison", "last run", "set", "approval"), "id"),
    **dict.fromkeys(("cases", "pairs", "runs", "size", "rows"), "number"),
    **dict.fromkeys(("raw", "value", "last value", "passed, 95 %"), "number"),
    **dict.fromkeys(("answers", "judges", "embeddings", "replaced"), "number"),
    **dict.fromkeys(("paid", "saved by the cache"), "number"),
    **dict.fromkeys(("judge", "output", "rationale"), "ellipsis"),
}
"""How columns are laid out; the others hold texts."""

_LINKED = {"run": "runs", "last run": "runs", "comparison": "comparisons"}
"""The kind of page that a column's cells name."""


def listing_table(
    rows: Iterable[Mapping[str, str | Cell]], title: str = "", *, optional: Collection[str] = ()
) -> Table:
    """A table whose heads say how cells are laid out; ids are never wrapped, to be copied."""
    # Of the `optional` columns those that no row has are left out.
    rows = list(rows)
    heads = [
        head
        for head in (rows[0] if rows else ())
        # A column of dashes would cost width.
        if head not in optional or any(row[head] != numbers.DASH for row in rows)
    ]
    # Ids contain the time, so that a narrow terminal needs no other column for it.
    columns = tuple(
        Column(
            head,
            _KINDS.get(head, "text"),
            may_drop=head == "started, UTC",
            may_move=head in {"measure", "approved, UTC", "evidence"},
        )
        for head in heads
    )

    def linked(head: str, cell: str | Cell) -> str | Cell:
        if head not in _LINKED or isinstance(cell, Cell) or cell == numbers.DASH:
            return cell
        return Cell(cell, link=page_path(_LINKED[head], cell))

    cells = tuple(tuple(linked(head, row[head]) for head in heads) for row in rows)
    return Table(columns, cells, title)


def listing_document(
    title: str, count: str, *blocks: Block, data: Callable[[], object]
) -> Document:
    """A listing; its conclusion is how many there are."""
    return Document(title, Conclusion(f"{count}."), not_empty(blocks), data)


def runs_table(
    runs: Sequence[RunInfo], figures: Sequence[RunSummary] | None = None, title: str = ""
) -> Table:
    rows = [
        {
            "run": run.id,
            "suite": run.suite,
            "started, UTC": f"{run.started_at:%Y-%m-%d %H:%M}",
            "status": message.RUN_STATUS_WORDS[run.status],
            "cases": numbers.DASH if run.n_cases is None else f"{run.n_cases:,}",
            "variants": ", ".join(variant.id for variant in run.variants),
        }
        for run in runs
    ]
    for row, summary in zip(rows, figures or (), strict=False):
        rates = (f"{v.variant} {numbers.format_rate(v.pass_rate)}" for v in summary.variants)
        row["passed"] = "; ".join(rates)
    return listing_table(rows, title)


def answers_table(answers: Iterable[tuple[RunInfo, Outcome]]) -> Table:
    """A row for each answer, of any run."""
    rows = []
    for run, answer in answers:
        result, output = answer.result, answer.result.output
        rows.append({
            "run": run.id,
            "case": result.case.id,
            "variant": message.with_repeat(result.variant, result.repeat),
            "agent run": output.run_id or numbers.DASH,
            "verdict": "error" if output.error is not None else ANSWER_WORDS[answer.passed],
            "value": numbers.format_decimal(answer.value),
            "output": message.printable(output.error or prompts.judged_text(output), _TEXT_LENGTH),
        })  # fmt: skip
    # Only traces of agents have a run of their own.
    return listing_table(rows, optional=["agent run"])


def cases_table(cases: Iterable[tuple[Case, Sequence[RunInfo]]], title: str = "") -> Table:
    rows = [
        {
            "case": case.id,
            "agent": case.agent or numbers.DASH,
            "skill": case.skill or numbers.DASH,
            "prompt": case.prompt_version or numbers.DASH,
            "tags": ", ".join(case.tags) or numbers.DASH,
            "runs": f"{len(runs):,}",
            "last run": runs[0].id if runs else numbers.DASH,
        }
        for case, runs in cases
    ]
    return listing_table(rows, title, optional=["agent", "skill", "prompt", "tags"])


def judgments_table(judgments: Iterable[StoredJudgment]) -> Table:
    return listing_table(
        {
            "run": one.run_id,
            "case": one.key.case_id,
            "variant": message.with_repeat(one.key.variant, one.key.repeat),
            "judge": message.without_folders(one.judgment.judge).partition(" ")[0]
            or one.judgment.source,
            "raw": numbers.format_score(one.judgment),
            "value": f"{one.judgment.value:.2f}",
            "rationale": message.printable(one.judgment.rationale, _TEXT_LENGTH),
        }
        for one in judgments
    )


_COMPARISON_STATUS_WORDS: dict[ComparisonStatus, str] = {
    "running": "running, or killed",
    "complete": "complete",
    "incomplete": "the judge failed",
    "interrupted": "interrupted",
    "stopped": "stopped",
    "decided": "decided early",
}


def comparisons_table(
    infos: Sequence[ComparisonInfo | ScoreComparisonInfo], title: str = "", *, is_page: bool = False
) -> Table:
    return listing_table([_comparison_row(one, is_page=is_page) for one in infos], title)


def _comparison_row(info: ComparisonInfo | ScoreComparisonInfo, *, is_page: bool) -> dict[str, str]:
    names = {"comparison": info.id, "A": info.a.label, "B": info.b.label}
    started = {"started, UTC": f"{info.started_at:%Y-%m-%d %H:%M}"}
    if isinstance(info, records.ScoreComparisonInfo):
        # Nobody was asked, and its figures follow from the runs. A terminal has no room for ids.
        if not is_page:
            names |= {"A": info.a.variant or "", "B": info.b.variant or ""}
        asked = {"rubric": numbers.DASH, "judge": "stored scores"}
        return {**names, **asked, **started, "status": numbers.DASH, "pairs": numbers.DASH}
    return {
        **names,
        "rubric": info.rubric.name,
        # Without the template, whose fingerprint would take half of a narrow terminal.
        "judge": message.without_folders(info.judge).partition(" ")[0],
        **started,
        "status": _COMPARISON_STATUS_WORDS[info.status],
        "pairs": f"{info.n_pairs:,}",
    }


def comparison_json(info: ComparisonInfo | ScoreComparisonInfo) -> JsonObject:
    """The settings of a comparison, and whether it is blind or of scores."""
    kind = "scores" if isinstance(info, records.ScoreComparisonInfo) else "blind"
    return {"kind": kind, **info.to_json()}


def comparison_setup(info: ComparisonInfo) -> Lines:
    """When a comparison was made, of what, and how the outputs were shown."""
    reason = f": {info.reason}" if info.reason else ""
    status = f"{_COMPARISON_STATUS_WORDS[info.status]}{reason}"
    labels = f"drawn with seed {info.label_seed}" if info.draw_labels else "none"
    names = "hidden" if info.scrub else "left in"
    return Lines((
        ("comparison", f"{info.id}, started {info.started_at:%Y-%m-%d %H:%M} UTC, {status}"),
        ("A", _side_text(info.a)),
        ("B", _side_text(info.b)),
        ("shown", f"in both orders; labels {labels}; model names {names}"),
    ))  # fmt: skip


def score_comparison_setup(info: ScoreComparisonInfo) -> Lines:
    """Which stored runs were compared by their scores, and when."""
    tags = f"cases with the tag {' or '.join(info.tags)}" if info.tags else ""
    rows = (
        ("comparison", f"{info.id}, {info.started_at:%Y-%m-%d %H:%M} UTC, of stored scores"),
        ("A", _side_text(info.a)),
        ("B", _side_text(info.b)),
        ("only", tags),
    )
    return Lines(tuple(row for row in rows if row[1]))


def _side_text(side: ComparedSide) -> str:
    parts = [side.label, "" if side.run_id is None else f"run {side.run_id}"]
    if side.version is not None:
        parts += [f"version {side.version.fingerprint[:12]}", side.version.model or ""]
    return ", ".join(filter(None, parts))


def pairs_document(
    info: ComparisonInfo,
    pairs: Sequence[tuple[ComparedPair, Comparison]],
    analyses: Mapping[int, ComparisonAnalysis],
    *,
    data: Callable[[], object],
) -> Document:
    """The pairs of one case: both outputs, all preferences, and why one lost."""
    # `analyses` has the analyses of losing outputs by the place of the pair.
    from judgekit.report.pair_cases import comparison_lines  # noqa: PLC0415 - not for listings

    labels = {"a": info.a.label, "b": info.b.label}
    results, blocks = [], []
    for pair, comparison in pairs:
        # The first line is the case and the winner, which title and conclusion have.
        lines = comparison_lines(comparison).splitlines()[1:]
        outputs = (
            Passage(pair.a.error or prompts.pairwise_text(pair.a), f"A, {info.a.label}"),
            Passage(pair.b.error or prompts.pairwise_text(pair.b), f"B, {info.b.label}"),
        )
        analysis = analyses.get(pair.place)
        about = (
            Notes(tuple(line.strip() for line in lines), "judgments"),
            None if analysis is None else Lines(_analysis_rows(analysis), "analysis"),
        )
        winner = labels.get(comparison.winner or "")
        words = "a tie" if comparison.winner == "tie" else "undecided"
        result = f"{winner} is preferred" if winner else words
        if comparison.consistent is False:
            result += " (the two orders conflict)"
        results.append(result)
        title = f"repeat {pair.repeat + 1}" if len(pairs) > 1 else ""
        blocks.append(Section(title, not_empty((*outputs, *about))))
    case = pairs[0][0].case
    return Document(
        title=f"Case {case.id}",
        conclusion=Conclusion("; ".join(results)),
        blocks=(Passage(prompts.to_text(case.input), "input"), *blocks),
        data=data,
    )


def _analysis_rows(analysis: ComparisonAnalysis) -> tuple[LabelledText, ...]:
    rows = [("strength", one.text) for one in analysis.strengths]
    rows += [("weakness", one.text) for one in analysis.weaknesses]
    for one in analysis.suggestions:
        # A judge may propose to change a passage that the output does not have.
        missing = "" if one.found or not one.before else " (not found in the output)"
        rows.append(("change", f"{one.area}: {one.before or 'nothing'}{missing}"))
        rows.append(("", f"to: {one.after}  {one.reasoning}"))
    return tuple(rows)


_STATUS_WORDS: dict[ApprovalStatus, str] = {
    "approved": "approved",
    "stale": "stale: the version changed",
    "unknown": "version not found",
}


def approvals_table(approvals: Sequence[tuple[Approval, ApprovalStatus]]) -> Table:
    return listing_table(
        {
            "variant": one.variant,
            "better than": one.baseline,
            "status": _STATUS_WORDS[status],
            "approved, UTC": f"{one.at:%Y-%m-%d %H:%M}",
            "by": one.by,
            "reason": message.printable(one.because, _TEXT_LENGTH),
            "evidence": ", ".join(one.evidence),
        }
        for one, status in approvals
    )


def approval_json(approval: Approval, status: ApprovalStatus) -> JsonObject:
    return {**approval.to_json(), "standing": status}


# `cache explain` takes the beginning of a key, so that these digits can be copied into it.
_KEY_DIGITS = 12
_ASKED_LENGTH = 60
_DIFF_LINES = 12
_DIFF_WIDTH = 160
# A criterion on a line of its own, or first of what follows the material.
_CRITERION = re.compile(
    r"^Criterion: (.+)$|\A\s*(?:.+ on this criterion\?\n)?(?!Criterion:)([^\n:]{1,60}): \S",
    re.MULTILINE,
)
# The code has to match at both ends: fenced text may contain other closing tags.
_FENCED = re.compile(r"<(\w+) ([A-Z2-7]{6,16})>\n(.*?)\n</\1 \2>", re.DOTALL)


def cache_stats_document(stats: CacheStats, *, folder: str) -> Document:
    """What a cache holds and what it has saved."""
    replies = numbers.format_count(stats.n_entries, "reply", "replies")
    saved = stats.saved
    money = numbers.format_usd(saved.saved_usd)
    n_requests = saved.n_hits + saved.n_misses
    share = f" ({saved.n_hits / n_requests:.0%} of {n_requests:,} requests)" if n_requests else ""
    # A hit of unknown price is no $0: the sum without it is a lower bound.
    hits = numbers.format_count(saved.n_unpriced_hits, "hit")
    unpriced = f" ({hits} of unknown price left out)" if saved.n_unpriced_hits else ""
    rejected = f"{stats.n_rejected:,} (paid for, but truncated or filtered; never served)"
    rows = (
        ("folder", folder),
        ("replies", f"{stats.n_entries:,}"),
        ("rejected", rejected if stats.n_rejected else "0"),
        ("size on disk", "in memory" if stats.n_bytes is None else format_file_size(stats.n_bytes)),
        ("hits", f"{saved.n_hits:,}{share}"),
        ("misses", f"{saved.n_misses:,}"),
        ("money saved", f"{money}{unpriced}"),
        ("time saved", numbers.format_duration(saved.saved_ms / 1000)),
    )
    return Document(
        title=f"Reply cache {folder}",
        conclusion=Conclusion(f"{replies} cached, {money} saved."),
        blocks=(Lines(rows),),
        data=lambda: {"folder": folder, **asdict(stats)},
    )


def cache_entries_document(entries: Sequence[CacheEntry], *, n_more: int = 0) -> Document:
    """Cached replies, a row each."""
    shown = numbers.format_count(len(entries), "reply", "replies")
    more = f", {n_more:,} more with --limit" if n_more else ""
    # What is short and unique comes first: a terminal of 80 columns cuts the last two only.
    table = table_of(
        entries,
        {
            Column("key", "text"): lambda entry: entry.key[:_KEY_DIGITS],
            Column("fetched, UTC", "text"): lambda entry: entry.created_at[:16].replace("T", " "),
            # Shorter than `price unknown`, under a head that says what is unknown.
            "price": lambda entry: numbers.format_usd(entry.reply.cost_usd).removeprefix("price "),
            Column("model", "ellipsis", max_width=24): lambda entry: str(
                (entry.request or {}).get("model", "?")
            ),
            Column("question", "ellipsis"): lambda entry: (
                request_summary(entry.request) + (" (rejected)" if entry.rejected else "")
            ),
        },
    )
    return Document(
        title="Cached replies",
        conclusion=Conclusion(f"{shown}{more}."),
        blocks=not_empty([table]),
        data=lambda: {"entries": [_entry_data(entry) for entry in entries], "n_more": n_more},
    )


def _entry_data(entry: CacheEntry) -> dict[str, object]:
    return {
        "key": entry.key,
        "model": (entry.request or {}).get("model"),
        "created_at": entry.created_at,
        "asked": request_summary(entry.request, 200),
        "reply": models.mask_secrets(entry.reply.text or ""),
        **fields_of(entry.reply, "finish_reason", "cost_usd", "duration_ms"),
        **fields_of(entry, "imported", "rejected"),
    }


def print_key_differences(console: Console, differences: Sequence[KeyDifference]) -> None:
    """Print how a request differs from the nearest cached one."""
    for difference in differences:
        for line in _difference_lines(difference):
            line.pad_left(4)
            console.print(line, soft_wrap=True)


def request_summary(request: JsonObject | None, limit: int = _ASKED_LENGTH) -> str:
    """The question of a request, shortened: the criterion, where it names one, and the task."""
    messages = (request or {}).get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    text = str(last.get("content")) if isinstance(last, dict) else "(the request is not recorded)"
    outside = _FENCED.sub("", text)
    ends = [match.end() for match in _FENCED.finditer(text)]
    # Requests of a rubric begin alike: only the criterion and the task differ.
    task = match[3] if (match := _FENCED.search(text)) else outside
    question = text[ends[-1] :] if ends else outside
    criteria = [one[1] or one[2] for one in _CRITERION.finditer(question)]
    lead = f"{criteria[0]}: " if len(criteria) == 1 else ""
    return message.printable(lead + task, limit)


def _difference_lines(difference: KeyDifference) -> list[Text]:
    from rich.text import Text  # noqa: PLC0415

    # `Text`, because square brackets in a foreign string would be read as markup.
    lead = Text(difference.part, style="cyan")
    if difference.diff is None:
        before, now = (message.printable(one) for one in (difference.held, difference.asked))
        lead.append(f": {before} → {now}")
        return [lead]
    lines = [line for line in difference.diff.splitlines() if not line.startswith(("---", "+++"))]
    styles = {"+": "green", "-": "red"}
    shown = []
    for line in lines[:_DIFF_LINES]:
        text = f"  {line[:1]}{message.printable(line[1:], _DIFF_WIDTH)}"
        shown.append(Text(text, style=styles.get(line[:1], "dim")))
    if len(lines) > _DIFF_LINES:
        shown.append(Text(f"… and {len(lines) - _DIFF_LINES} more lines"))
    return [lead, *shown]
