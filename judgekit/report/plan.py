"""Builds the documents of plans: what a run, a grading or a comparison would call and cost."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from judgekit.evaluation import TARGET_DIFFERENCE, GradePlan
from judgekit.report import message, numbers
from judgekit.report.document import (
    Column,
    Conclusion,
    Document,
    Lines,
    Notes,
    Table,
    Tone,
    not_empty,
)
from judgekit.report.message import compact_names
from judgekit.report.numbers import compact_duration, compact_number, compact_usd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation import (
        AnswersPlan,
        CallLoad,
        ComparisonPlan,
        DetectableEffect,
        JudgePlan,
        ModelPlan,
        SuitePlan,
    )

_IF_READABLE = ", if no reply has to be retried"


def judging_plan_document(plan: GradePlan | ComparisonPlan) -> Document:
    """What a grading or a comparison would ask and cost."""
    what = "Plan of a grading" if isinstance(plan, GradePlan) else "Plan of a comparison"
    return Document(
        title=what,
        conclusion=Conclusion(_judging_conclusion(plan)),
        blocks=(Lines(tuple(_plan_rows(plan))),),
        data=lambda: {**asdict(plan), "n_calls": plan.n_calls},
    )


def _judging_conclusion(plan: GradePlan | ComparisonPlan) -> str:
    if plan.n_calls == 0:
        return "No calls needed: every reply is cached or recorded."
    calls = f"{numbers.format_count(plan.n_calls, 'call')} to {plan.model}"
    if plan.price_usd is None:
        return f"{calls}; the price is unknown."
    return f"{calls}, about {numbers.format_usd(plan.price_usd[0])}."


def _plan_rows(plan: GradePlan | ComparisonPlan) -> list[tuple[str, str]]:
    likely, most = plan.output_tokens
    price = (
        "unknown (litellm's table has no price for this model)"
        if plan.price_usd is None
        else f"{numbers.format_usd(plan.price_usd[0])} likely, {numbers.format_usd(plan.price_usd[1])} at most"  # noqa: E501
    )
    return [
        _planned(plan),
        ("questions", f"{plan.n_questions:,}"),
        ("cached already", f"{plan.n_owned:,}{_saved(plan)}"),
        ("calls to make", f"{plan.n_calls:,}{_IF_READABLE if plan.n_calls else ''}"),
        ("tokens to send", f"{plan.input_tokens:,} ({plan.token_source})"),
        ("tokens to receive", f"{likely:,} likely, {most:,} at most (estimate)"),
        ("price", "$0 (no calls needed)" if plan.n_calls == 0 else price),
        ("judge", plan.model),
        ("template", plan.template),
    ]


def _planned(plan: GradePlan | ComparisonPlan) -> tuple[str, str]:
    """What is graded or compared, and how much of it needs no judge."""
    skipped = f", {plan.n_skipped:,} without an output" if plan.n_skipped else ""
    if isinstance(plan, GradePlan):
        return "outputs", f"{plan.n_outputs:,}{skipped}"
    same = f", {plan.n_identical:,} alike" if plan.n_identical else ""
    return "pairs", f"{plan.n_pairs:,} in both orders{skipped}{same}"


def _saved(plan: JudgePlan) -> str:
    return f" ({numbers.format_usd(plan.saved_usd)} when fetched)" if plan.saved_usd else ""


def suite_plan_document(plan: SuitePlan) -> Document:
    """What a run would ask and cost, and what these figures rest on."""
    return Document(
        title=_headline(plan),
        conclusion=Conclusion(f"Price: {_money(plan)}. Time: {_time(plan)}.", _tone(plan)),
        blocks=not_empty((
            Notes(tuple(_scope_lines(plan))),
            _models_table(plan),
            Lines(tuple(_name_once(_plan_lines(plan)))),
        )),
        data=lambda: _plan_data(plan),
    )  # fmt: skip


def _tone(plan: SuitePlan) -> Tone:
    """Whether the money suffices, where there is a limit."""
    tones: dict[str | None, Tone] = {"at_most": "pass", "likely": "inconclusive", "short": "fail"}
    return "neutral" if plan.max_cost_usd is None else tones.get(plan.sufficiency, "neutral")


def _name_once(rows: Sequence[_Line]) -> list[_Line]:
    """Each label before its first line only."""
    labels = ["", *(label for label, _ in rows)]
    return [
        ("" if label == before else label, text)
        for before, (label, text) in zip(labels, rows, strict=False)
    ]


def _plan_data(plan: SuitePlan) -> dict[str, object]:
    return {
        **asdict(plan),
        "is_scaled": plan.is_scaled,
        "has_all_prices": plan.has_all_prices,
        "likely_usd": plan.likely_usd,
        "most_usd": plan.most_usd,
        "saved_usd": plan.saved_usd,
        "sufficiency": plan.sufficiency,
    }


def _models_table(plan: SuitePlan) -> Table:
    """Two rows for each model: what is likely, and what there may be at most."""
    heads = ("cached", "calls", "sent", "received", "price", "time")
    rows: list[tuple[str, ...]] = []
    ends = []
    for model in plan.models:
        rows.append((_model_role(model), *_likely_cells(model)))
        rows.append((f"  {message.printable(model.model)}", *_most_cells(model)))
        ends.append(len(rows) - 1)
    if len(plan.models) > 1:
        rows += [("all", *_total_cells(plan)), ("", *_total_most_cells(plan))]
    columns = (Column("model", "text"), *map(Column, heads))
    return Table(columns, tuple(rows), rules_after=frozenset(ends))


if TYPE_CHECKING:
    _Line = tuple[str, str]

_KINDS = {
    "outputs": "recorded",
    "prompt": "from a model",
    "command": "from a command",
    "python": "from a function",
    "http": "from an endpoint",
}

_ROLES = {"answers": "answers", "judge": "judge", "checks": "similarity"}
_UNKNOWN = "unknown"


def _headline(plan: SuitePlan) -> str:
    """What would be run, on one line."""
    n_cases = numbers.format_count(plan.cases.n_chosen, "case")
    parts = [n_cases, numbers.format_count(len(plan.answers), "variant")]
    if plan.repeats > 1:
        parts.append(f"{plan.repeats} repeats")
    return (
        f"{message.printable(plan.suite)}: {' by '.join(parts)}: "
        f"{numbers.format_count(plan.n_answers, 'answer')}"
    )


def _scope_lines(plan: SuitePlan) -> list[str]:
    """What is not run, and what the figures rest on."""
    cases = plan.cases
    reasons = [
        (cases.n_filtered, "filtered"),
        (cases.n_undrawn, "not drawn or after the limit"),
        (cases.n_draft, "drafts" if cases.n_draft > 1 else "draft"),
        (cases.n_deprecated, "deprecated"),
    ]
    said = [f"{n:,} {word}" for n, word in reasons if n]
    lines = [f"cases left out: {', '.join(said)}"] if said else []
    if plan.is_scaled:
        lines.append(
            f"estimated from {plan.n_counted:,} cases drawn at random; counts are scaled up"
        )
    if plan.n_done:
        lines.append(f"done already in this run: {numbers.format_count(plan.n_done, 'answer')}")
    return lines


def _model_role(model: ModelPlan) -> str:
    """Who is asked, in which role."""
    if model.role == "checks":  # its name is the model's, which stands beside it
        return _ROLES[model.role]
    name = model.name.removeprefix(f"{model.model} ").partition("@")[0]
    return f"{_ROLES[model.role]} {message.printable(name)}"


def _likely_cells(model: ModelPlan) -> tuple[str, ...]:
    """What is likely from a model, column by column."""
    owned = f"{compact_number(model.n_owned)} of {compact_number(model.n_questions)}"
    time = compact_duration(model.seconds) if model.likely.calls else numbers.DASH
    return (owned, *_load(model.likely), _price(model.likely), time)


def _most_cells(model: ModelPlan) -> tuple[str, ...]:
    """What may be from a model at most, column by column."""
    return ("at most", *_load(model.most), _price(model.most), "")


def _total_cells(plan: SuitePlan) -> tuple[str, ...]:
    """What is likely asked of all models, column by column."""
    n_questions = sum(model.n_questions for model in plan.models)
    n_owned = sum(model.n_owned for model in plan.models)
    loads = [model.likely for model in plan.models]
    time = compact_duration(plan.seconds) if plan.seconds else numbers.DASH
    owned = f"{compact_number(n_owned)} of {compact_number(n_questions)}"
    return (owned, *_sum(loads), _price_of_all(loads), time)


def _total_most_cells(plan: SuitePlan) -> tuple[str, ...]:
    """What may be asked of all models at most, column by column."""
    loads = [model.most for model in plan.models]
    return ("at most", *_sum(loads), _price_of_all(loads), "")


def _plan_lines(plan: SuitePlan) -> list[_Line]:
    """What is said below the table: a name and a text each."""
    return [
        *_answers(plan),
        *_judging(plan),
        *_limit(plan),
        *[("can detect", text) for text in _detectable_lines(plan)],
        *[("assumed", text) for text in _assumption_lines(plan)],
    ]


def _answers(plan: SuitePlan) -> list[_Line]:
    """The variants, those of a kind on one line."""
    found: list[_Line] = []
    for kind, words in _KINDS.items():
        of_kind = [one for one in plan.answers if one.kind == kind]
        if of_kind:
            text = f"{compact_names([one.variant for one in of_kind])}: {_count(of_kind)} {words}"
            found.append(("answers", text + _known(of_kind) + _own_cost(of_kind)))
    if plan.n_retries:
        again = numbers.format_count(plan.n_retries, "answer")
        found.append(
            (
                "retries",
                f"up to {again} more, if answers do not pass; in the upper bounds",
            )
        )
    return found


def _known(answers: Sequence[AnswersPlan]) -> str:
    n_errors = sum(one.n_errors for one in answers)
    n_known = sum(one.n_known for one in answers)
    said = f", {n_known:,} cached already" if answers[0].kind == "prompt" and n_known else ""
    missing = "without an output" if answers[0].kind == "outputs" else "errors"
    return said + (f"; {n_errors:,} {missing}, not judged" if n_errors else "")


def _own_cost(answers: Sequence[AnswersPlan]) -> str:
    if answers[0].kind not in {"command", "python", "http"}:
        return ""
    costs = [one.cost_usd for one in answers if one.cost_usd]
    if not costs:
        return ", at an unknown price"
    return f", about {compact_usd(sum(costs))} as in the latest run"


def _judging(plan: SuitePlan) -> list[_Line]:
    found: list[_Line] = []
    if plan.judges_by_rule:
        found.append(("rules", "assertions decide, at no cost"))
    if plan.combine == "cascade":
        text = "each judge is called only if the one before is unsure; upper bound: always"
        found.append(("cascade", text))
    elif plan.combine is not None:
        found.append(("panel", f"every judge is called; combined by {plan.combine}"))
    least, most = plan.people
    if most:
        n = (
            f"{least:,} to {most:,} questions"
            if least < most
            else numbers.format_count(most, "question")
        )
        found.append(("human", f"{n} for human labelling: judgekit label"))
    return found


def _money(plan: SuitePlan) -> str:
    saved = f"; {compact_usd(plan.saved_usd)} saved by cached replies" if plan.saved_usd else ""
    if not any(model.most.calls for model in plan.models) and not plan.own_usd:
        return f"$0 (no calls needed){saved}"
    if not plan.has_all_prices and not plan.most_usd:
        return f"unknown: no price is known (give one in the suite's `prices`){saved}"
    least = "" if plan.has_all_prices else "at least "
    low = f"{compact_usd(plan.likely_usd)} {_low(plan)}"
    interval = f"{low}, {compact_usd(plan.most_usd)} at most"
    if plan.likely_usd == plan.most_usd:
        interval = f"about {compact_usd(plan.likely_usd)}"
    if plan.own_usd and plan.models:
        interval += f", {compact_usd(plan.own_usd)} of it outside these models"
    unpriced = list(dict.fromkeys(m.model for m in plan.models if m.most.price_usd is None))
    unknown = (
        f" and what {compact_names(unpriced, 'models')} costs (give it in the suite's `prices`)"
    )
    return f"{least}{interval}{unknown if unpriced else ''}{saved}"


def _low(plan: SuitePlan) -> str:
    """What the lower figures are: of a cascade nobody knows how often it escalates."""
    return "without escalation" if plan.combine == "cascade" else "likely"


def _limit(plan: SuitePlan) -> list[_Line]:
    if plan.is_frozen:
        n = sum(model.likely.calls for model in plan.models)
        missing = f"{numbers.format_count(n, 'reply is', 'replies are')} not cached: the run would exit with code 6"  # noqa: E501
        return [("frozen", f"no calls are made; {missing if n else 'every reply is cached'}")]
    if plan.max_cost_usd is None or plan.sufficiency is None:
        return []
    limit = f"--max-cost {compact_usd(plan.max_cost_usd)}"
    is_cascade = plan.combine == "cascade"
    likely = "suffices without escalation" if is_cascade else "likely suffices"
    short = "does not suffice even without escalation" if is_cascade else "likely does not suffice"
    said = {
        "at_most": "suffices in any case",
        "likely": f"{likely}, but not for the upper bound",
        "short": f"{short}: the run would stop with exit code 5 and could be resumed",
    }
    return [("limit", f"{limit} {said[plan.sufficiency]}")]


def _time(plan: SuitePlan) -> str:
    untimed = [
        one.variant
        for one in plan.answers
        if one.latency_s is None
        and one.kind in {"command", "python", "http"}
        and one.n_answers > one.n_known
    ]
    without = f"; the time of {compact_names(untimed)} is unknown" if untimed else ""
    if not plan.seconds:
        return without.removeprefix("; ") or "negligible"
    slowest = max(plan.models, key=lambda model: model.seconds, default=None)
    why = ""
    if slowest is not None and slowest.bound != "concurrency":
        why = f" and within the {slowest.bound} of {slowest.model}"
    return (
        f"about {compact_duration(plan.seconds)}, {plan.in_flight} answers at a time{why}{without}"
    )


def _count(answers: Sequence[AnswersPlan]) -> str:
    return numbers.format_count(sum(one.n_answers for one in answers), "answer")


def _sum(loads: Sequence[CallLoad]) -> tuple[str, str, str]:
    return (
        compact_number(sum(load.calls for load in loads)),
        compact_number(sum(load.input_tokens for load in loads)),
        compact_number(sum(load.output_tokens for load in loads)),
    )


def _load(load: CallLoad) -> tuple[str, str, str]:
    return (
        compact_number(load.calls),
        compact_number(load.input_tokens),
        compact_number(load.output_tokens),
    )


def _price(load: CallLoad) -> str:
    return _UNKNOWN if load.price_usd is None else compact_usd(load.price_usd)


def _price_of_all(loads: Sequence[CallLoad]) -> str:
    known = [load.price_usd for load in loads if load.price_usd is not None]
    if not known:
        return _UNKNOWN
    return ("" if len(known) == len(loads) else "> ") + compact_usd(sum(known))


_WHOLE_POINTS = 10


def _detectable_lines(plan: SuitePlan) -> list[str]:
    """What differences between two variants the cases can show."""
    return [_detectable_line(found) for found in plan.detectable]


def _assumption_lines(plan: SuitePlan) -> list[str]:
    """What the figures rest on that is not known."""
    said = [_spreads(plan.detectable), *_latencies(plan)]
    said += _lengths(plan)
    if plan.earlier is not None:
        answers = numbers.format_count(plan.earlier.n_answers, "answer")
        said.append(f"observed figures come from run {plan.earlier.id} ({answers})")
    counted = list(dict.fromkeys(m.counted_by for m in plan.models if m.most.calls))
    if counted:
        said.append(f"tokens counted by {', '.join(counted)}; no reply has to be retried")
    return said


def _detectable_line(found: DetectableEffect) -> str:
    """For example `pass rate: a difference of 24 points or more; 5 points need 940 cases`."""
    is_rate = found.measure == "pass_rate"

    def amount(difference: float) -> str:
        if not is_rate:
            return f"{difference:.2g}"
        points = difference * 100
        return f"{points:.0f} points" if points >= _WHOLE_POINTS else f"{points:.2g} points"

    can = "no difference of any size"
    if found.smallest is not None:
        can = f"a difference of {amount(found.smallest)} or more"
    need = numbers.format_count(found.n_for_sought, "case")
    measure = "pass rate" if is_rate else "value"
    return f"{measure}: {can}; {amount(TARGET_DIFFERENCE)} {'need' if is_rate else 'needs'} {need}"


def _spreads(found: Sequence[DetectableEffect]) -> str:
    """On what it rests which differences can be shown."""
    words = {
        "pass_rate": lambda spread: f"{spread * 100:.0f} % of the cases differ in passing",
        "value": lambda spread: f"differences in value have sd {spread:.2f}",
    }
    parts = [
        f"{words[one.measure](one.spread)} ({'observed' if one.is_observed else 'assumed'})"
        for one in found
    ]
    return f"{', '.join(parts)}; 80 % power at 5 %, two variants on the same cases"


def _latencies(plan: SuitePlan) -> list[str]:
    by_words: dict[str, list[str]] = {}
    for model in plan.models:
        if model.likely.calls:
            how = f"from {model.n_latencies:,} cached replies" if model.n_latencies else "assumed"
            words = f"{numbers.format_milliseconds(model.latency_s * 1000)} a call ({how})"
            by_words.setdefault(f"{words}, {model.max_concurrency} at a time", []).append(
                model.model
            )
    return [
        f"{compact_names(list(dict.fromkeys(names)), 'models')}: {words}"
        for words, names in by_words.items()
    ]


def _lengths(plan: SuitePlan) -> list[str]:
    by_words: dict[str, list[str]] = {}
    for one in plan.answers:
        if one.text is None or not plan.models:
            continue
        how = {
            "owned": "from its known answers",
            "run": "observed",
            "others": "from answers of other variants",
            "assumed": "assumed",
        }[one.text_source or "assumed"]
        words = f"{one.text.likely:,.0f} tokens, {one.text.most:,.0f} at most ({how})"
        by_words.setdefault(words, []).append(one.variant)
    return [f"answers of {compact_names(names)} have {words}" for words, names in by_words.items()]
