"""Builds the documents of plans: what a run, a grading or a comparison would call and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import fsum
from typing import TYPE_CHECKING

from judgekit.evaluation import ASSUMED_DISTANCE, CLOSEST_DISTANCE, TARGET_DIFFERENCE, GradePlan
from judgekit.models import can_batch
from judgekit.report import message, numbers
from judgekit.report.document import (
    Column,
    Conclusion,
    Document,
    LabelledText,
    Lines,
    Notes,
    Table,
    Tone,
    fields_of,
    label_once,
    not_empty,
    table_of,
)
from judgekit.report.message import compact_names
from judgekit.report.numbers import compact_duration, compact_number, compact_usd
from judgekit.report.segments import stratum_note

if TYPE_CHECKING:
    from judgekit.calibration import LabelledShare
    from judgekit.evaluation import (
        AnswersPlan,
        CallLoad,
        ComparisonPlan,
        DetectableEffect,
        JudgePlan,
        ModelPlan,
        Sufficiency,
        SuitePlan,
    )

# No plan can foresee how many replies are unparseable and have to be retried.
_IF_READABLE = ", if no reply has to be retried"


def judging_plan_document(
    plan: GradePlan | ComparisonPlan,
    share: LabelledShare | None = None,
    *,
    max_cost_usd: float | None = None,
) -> Document:
    """What a grading or a comparison would ask and cost."""
    skipped = f", {plan.n_skipped:,} without an output" if plan.n_skipped else ""
    if isinstance(plan, GradePlan):
        title, subject = "Plan of a grading", ("outputs", f"{plan.n_outputs:,}{skipped}")
    else:
        identical = f", {plan.n_identical:,} identical" if plan.n_identical else ""
        subject = ("pairs", f"{plan.n_pairs:,} in both orders{skipped}{identical}")
        title = "Plan of a comparison"
    return judge_plan_document(plan, title, [subject], share, max_cost_usd=max_cost_usd)


def judge_plan_document(
    plan: JudgePlan,
    title: str,
    subject: Sequence[LabelledText],
    share: LabelledShare | None = None,
    *,
    max_cost_usd: float | None = None,
    up_to: str = "",
) -> Document:
    """What one judge would be asked about something, and how much of it has labels."""
    labels = [] if share is None else [("labels", labelled_share_words(share))]
    sufficiency, limit = plan.sufficiency(max_cost_usd), ""
    if max_cost_usd is not None and sufficiency is not None:
        limit = f" {_limit_words(sufficiency, max_cost_usd, plan.reserved_usd)}."
    likely_usd = None if plan.price_usd is None else plan.price_usd[0]
    price = "; the price is unknown"
    if likely_usd is not None:
        price = f", about {numbers.format_usd(likely_usd)}"
    joint = plan.joint if isinstance(plan, GradePlan) else None
    other_mode = [] if joint is None else [("--mode joint", _joint_words(joint, likely_usd))]
    model = message.without_folders(plan.model)
    text = f"{numbers.format_count(plan.n_calls, 'call')} to {model}{price}."
    if plan.n_calls == 0:
        text = "No calls needed: every reply is cached or recorded."
    return Document(
        kind="Plan",
        title=title,
        conclusion=Conclusion(up_to + text + limit),
        blocks=(Lines((*labels, *subject, *_plan_rows(plan), *other_mode)),),
        data=lambda: {
            **asdict(plan),
            "n_calls": plan.n_calls,
            "batch_usd": judge_batch_usd(plan),
            **({} if share is None else {"labels": asdict(share)}),
        },
    )


def labelled_share_words(share: LabelledShare) -> str:
    """How much of what could be judged has labels: `cover 5 of 20 outputs …`."""
    units = numbers.format_count(share.n_places, share.unit)
    criteria = numbers.format_count(share.n_criteria, "criterion", "criteria")
    line = f"cover {share.n_labelled:,} of {units}"
    if share.n_labelled_criteria is not None:
        line += f" and {share.n_labelled_criteria:,} of {criteria}"
    if share.n_calls is not None:
        calls = numbers.format_count(share.n_calls, "call")
        serve = "serves" if share.n_labelled_calls == 1 else "serve"
        line += f": {share.n_labelled_calls:,} of {calls} {serve} labelled items"
    if share.n_other_labels:
        others = numbers.format_count(share.n_other_labels, "label")
        line += f"; {others} left out: no output is of their variant"
    return line


def _plan_rows(plan: JudgePlan) -> list[LabelledText]:
    likely, most = plan.output_tokens
    price = "unknown (litellm's table has no price for this model)"
    if plan.n_calls == 0:
        price = "$0 (no calls needed)"
    elif plan.price_usd is not None:
        low, high = map(numbers.format_usd, plan.price_usd)
        price = f"{low} likely, {high} at most"
    saved = f" ({numbers.format_usd(plan.saved_usd)} when fetched)" if plan.saved_usd else ""
    return [
        ("questions", f"{plan.n_questions:,}"),
        *_shared_rows(plan.n_shared),
        ("cached already", f"{plan.n_owned:,}{saved}"),
        ("calls to make", f"{plan.n_calls:,}{_IF_READABLE if plan.n_calls else ''}"),
        ("tokens to send", f"{plan.input_tokens:,} ({plan.token_source})"),
        ("tokens to receive", f"{likely:,} likely, {most:,} at most (estimate)"),
        ("price", price),
        *_batch_rows(judge_batch_usd(plan)),
        ("models" if "," in plan.model else "judge", message.without_folders(plan.model)),
        ("template", plan.template),
    ]


def _joint_words(joint: CallLoad, price_usd: float | None) -> str:
    """What one call for all criteria would take, and that its scores are others."""
    words = numbers.format_count(joint.calls, "call")
    if joint.price_usd is not None and price_usd:
        # It may be more where many replies of the other mode are cached.
        change = joint.price_usd / price_usd - 1
        share = f"{numbers.format_share(abs(change))} {'more' if change > 0 else 'less'}"
        words += f", about {numbers.format_usd(joint.price_usd)} ({share})"
    return f"{words}; `judgekit audit --probes mode` measures whether the scores agree"


def judge_batch_usd(plan: JudgePlan) -> tuple[float, float] | None:
    """What the calls cost in batches, likely and at most; None where they cannot be batches."""
    # Of the jobs of one judge only gradings are submitted.
    return plan.batch_usd if isinstance(plan, GradePlan) and plan.n_calls else None


def suite_batch_usd(plan: SuitePlan) -> tuple[float, float] | None:
    """What a run costs in batches, likely and at most; None where it cannot be run in batches."""
    is_called = any(model.most.calls for model in plan.models)
    can_be = all(can_batch(one.model) and one.role != "checks" for one in plan.models)
    if not (is_called and can_be and plan.has_all_prices):
        return None
    likely = fsum(one.likely.batch_usd or 0.0 for one in plan.models)
    most = fsum(one.most.batch_usd or 0.0 for one in plan.models)
    return plan.own_usd + likely, plan.own_usd + most


def _batch_rows(usd: tuple[float, float] | None) -> list[LabelledText]:
    if usd is None:
        return []
    low, high = map(numbers.format_usd, usd)
    return [("in batches", f"{low} likely, {high} at most, within 24 hours: judgekit batch submit")]


def _shared_rows(n_shared: int) -> list[LabelledText]:
    words = "answered by the reply to an identical question"
    return [("identical", f"{n_shared:,} more, {words}")] if n_shared else []


_DERIVED = (
    "is_scaled",
    "has_all_prices",
    "likely_usd",
    "most_usd",
    "saved_usd",
    "reserved_usd",
    "sufficiency",
)


def suite_plan_document(plan: SuitePlan) -> Document:
    """What a run would ask and cost, and what these figures rest on."""
    # Where the gate asks for a value the table of its cases says it.
    strata = stratum_note(one for one in plan.needs if one.least is None)
    rows = [
        *_answer_lines(plan),
        *_judging_lines(plan),
        *_shared_rows(sum(model.n_shared for model in plan.models)),
        *(
            ("mode: joint", _joint_words(model.joint, model.likely.price_usd))
            for model in plan.models
            if model.joint is not None
        ),
        *([("frozen", _frozen_words(plan))] if plan.is_frozen else []),
        *_batch_rows(suite_batch_usd(plan)),
        *(("can detect", _detectable_text(effect)) for effect in plan.detectable),
        *([("strata", strata)] if strata else []),
        *(("assumed", text) for text in _assumptions(plan)),
    ]
    # Whether the limit suffices; without one a price is neither good nor bad.
    tone, limit = _TONES.get(plan.sufficiency, "neutral"), ""
    if plan.max_cost_usd is not None and plan.sufficiency is not None:
        about = plan.sufficiency, plan.max_cost_usd, plan.reserved_usd
        limit = f" {_limit_words(*about, is_cascade=plan.combine == 'cascade')}."
    return Document(
        kind="Plan",
        title=_headline(plan),
        conclusion=Conclusion(f"Price: {_money(plan)}. Time: {_time(plan)}.{limit}", tone),
        blocks=not_empty((
            Notes(tuple(_scope_lines(plan))),
            _models_table(plan),
            _needs_table(plan),
            Lines(label_once(rows)),
        )),
        data=lambda: {
            **asdict(plan),
            **fields_of(plan, *_DERIVED),
            "batch_usd": suite_batch_usd(plan),
            "needs": [{**asdict(one), "n_missing": one.n_missing} for one in plan.needs],
        },
    )  # fmt: skip


_TONES: dict[str | None, Tone] = {"at_most": "pass", "likely": "inconclusive", "short": "fail"}


def _models_table(plan: SuitePlan) -> Table:
    rows: list[tuple[str, ...]] = []
    ends = []
    for model in plan.models:
        cached = f"{compact_number(model.n_owned)} of {compact_number(model.n_questions)}"
        time = compact_duration(model.seconds) if model.likely.calls else numbers.DASH
        rows.append((_model_role(model), cached, *_load_cells([model.likely]), time))
        name = f"  {message.without_folders(model.model)}"
        rows.append((name, "at most", *_load_cells([model.most]), ""))
        ends.append(len(rows) - 1)
    if len(plan.models) > 1:
        n_cached = compact_number(sum(model.n_owned for model in plan.models))
        n_questions = compact_number(sum(model.n_questions for model in plan.models))
        likely = _load_cells([model.likely for model in plan.models])
        # Models work at the same time, so that the time is not the sum of theirs.
        time = compact_duration(plan.seconds) if plan.seconds else numbers.DASH
        rows.append(("all", f"{n_cached} of {n_questions}", *likely, time))
        rows.append(("", "at most", *_load_cells([model.most for model in plan.models]), ""))
    heads = ("cached", "calls", "sent", "received", "price", "time")
    columns = (Column("model", "text"), *map(Column, heads))
    return Table(columns, tuple(rows), rules_after=frozenset(ends))


def _needs_table(plan: SuitePlan) -> Table | None:
    """How many cases the gate needs; None where it asks for no value, or values alone decide."""
    least = plan.needs[0].least if plan.needs else None
    if least is None:
        return None
    tier = plan.needs[0].tier or "the threshold"
    note = (
        f"needed: for a 95 % interval that excludes {least:g} with 80 % power, if the true "
        "value is as stated"
    )
    if any(one.is_observed for one in plan.needs):
        note += f"; observed values within {CLOSEST_DISTANCE:g} of it are taken as so far away"
    else:
        note += (
            f"; no comparable run has measured enough cases: {ASSUMED_DISTANCE:g} above is assumed"
        )
    return table_of(
        plan.needs,
        {
            Column("stratum", "text"): lambda one: one.stratum or "all cases",
            "cases": lambda one: f"{one.n_cases:,}",
            "needed": lambda one: f"{one.n_needed:,}",
            "missing": lambda one: f"{one.n_missing:,}" if one.n_missing else numbers.DASH,
            "true value": lambda one: (
                f"{numbers.format_decimal(one.value)} "
                f"({'observed' if one.is_observed else 'assumed'})"
            ),
            "sd": lambda one: numbers.format_decimal(one.sd),
        },
        f"Cases for the gate to decide about {tier}",
        (note,),
    )


_KINDS = {
    "outputs": "recorded",
    "prompt": "from a model",
    "command": "from a command",
    "python": "from a function",
    "http": "from an endpoint",
    "not_imported": "to be recorded elsewhere (--outputs FILE)",
}

_ROLES = {"answers": "answers", "judge": "judge", "checks": "similarity"}


def _headline(plan: SuitePlan) -> str:
    n_cases = numbers.format_count(plan.cases.n_chosen, "case")
    parts = [n_cases, numbers.format_count(len(plan.answers), "variant")]
    if plan.repeats > 1:
        parts.append(f"{plan.repeats} repeats")
    return f"{plan.suite}: {' by '.join(parts)}: {numbers.format_count(plan.n_answers, 'answer')}"


def _scope_lines(plan: SuitePlan) -> list[str]:
    cases = plan.cases
    reasons = [
        (cases.n_filtered, "filtered"),
        (cases.n_undrawn, "not drawn or after the limit"),
        (cases.n_draft, "drafts" if cases.n_draft > 1 else "draft"),
        (cases.n_deprecated, "deprecated"),
    ]
    parts = [f"{n:,} {word}" for n, word in reasons if n]
    lines = [f"cases left out: {', '.join(parts)}"] if parts else []
    if plan.is_scaled:
        counted = f"{plan.n_counted:,} cases drawn at random"
        lines.append(f"estimated from {counted}; counts are scaled up")
    if plan.n_done:
        lines.append(f"done already in this run: {numbers.format_count(plan.n_done, 'answer')}")
    return lines


def _model_role(model: ModelPlan) -> str:
    # The similarity model has no other name than the model's, which stands beside it.
    if model.role == "checks":
        return _ROLES[model.role]
    name = model.name.removeprefix(f"{model.model} ").partition("@")[0]
    return f"{_ROLES[model.role]} {name}"


def _answer_lines(plan: SuitePlan) -> list[LabelledText]:
    lines = []
    for kind, words in _KINDS.items():
        of_kind = [one for one in plan.answers if one.kind == kind]
        if of_kind:
            names = compact_names([one.variant for one in of_kind])
            n = numbers.format_count(sum(one.n_answers for one in of_kind), "answer")
            lines.append(("answers", f"{names}: {n} {words}{_known(of_kind)}{_own_cost(of_kind)}"))
    if plan.n_retries:
        retries = numbers.format_count(plan.n_retries, "answer")
        words = f"up to {retries} more, if answers do not pass; in the upper bounds"
        lines.append(("retries", words))
    return lines


def _known(answers: Sequence[AnswersPlan]) -> str:
    n_errors = sum(one.n_errors for one in answers)
    n_known = sum(one.n_known for one in answers)
    cached = f", {n_known:,} cached already" if answers[0].kind == "prompt" and n_known else ""
    missing = "without an output" if answers[0].kind == "outputs" else "errors"
    return cached + (f"; {n_errors:,} {missing}, not judged" if n_errors else "")


def _own_cost(answers: Sequence[AnswersPlan]) -> str:
    """The price of programs and endpoints: only an earlier run can have recorded it."""
    if answers[0].kind not in {"command", "python", "http"}:
        return ""
    cost = sum(one.cost_usd or 0.0 for one in answers)
    return f", about {compact_usd(cost)} as in the latest run" if cost else ", at an unknown price"


def _judging_lines(plan: SuitePlan) -> list[LabelledText]:
    lines = []
    if plan.judges_by_rule:
        lines.append(("rules", "assertions decide, at no cost"))
    if plan.combine == "cascade":
        text = "each judge is called only if the one before is unsure; upper bound: always"
        lines.append(("cascade", text))
    elif plan.combine is not None:
        lines.append(("panel", f"every judge is called; combined by {plan.combine}"))
    least, most = plan.people
    if most:
        n = numbers.format_count(most, "question")
        n = f"{least:,} to {n}" if least < most else n
        lines.append(("human", f"{n} for human labelling: judgekit label"))
    return lines


def _money(plan: SuitePlan) -> str:
    saved = f"; {compact_usd(plan.saved_usd)} saved by cached replies" if plan.saved_usd else ""
    if not any(model.most.calls for model in plan.models) and not plan.own_usd:
        return f"$0 (no calls needed){saved}"
    if not plan.has_all_prices and not plan.most_usd:
        return f"unknown: no price is known (give one in the suite's `prices`){saved}"
    least = "" if plan.has_all_prices else "at least "
    # Nobody knows how often a cascade escalates, so that its lower figure is not a likely one.
    low = "without escalation" if plan.combine == "cascade" else "likely"
    interval = f"{compact_usd(plan.likely_usd)} {low}, {compact_usd(plan.most_usd)} at most"
    if plan.likely_usd == plan.most_usd:
        interval = f"about {compact_usd(plan.likely_usd)}"
    if plan.own_usd and plan.models:
        interval += f", {compact_usd(plan.own_usd)} of it outside these models"
    unpriced = list(dict.fromkeys(m.model for m in plan.models if m.most.price_usd is None))
    if unpriced:
        models = compact_names(unpriced, "models")
        interval += f" and what {models} costs (give it in the suite's `prices`)"
    return f"{least}{interval}{saved}"


def _frozen_words(plan: SuitePlan) -> str:
    n = sum(model.likely.calls for model in plan.models)
    replies = numbers.format_count(n, "reply is", "replies are")
    missing = f"{replies} not cached: the run would exit with code 6"
    return f"no calls are made; {missing if n else 'every reply is cached'}"


def _limit_words(
    sufficiency: Sufficiency, limit_usd: float, reserved_usd: float, *, is_cascade: bool = False
) -> str:
    limit = f"--max-cost {compact_usd(limit_usd)}"
    if sufficiency == "at_most":
        return f"{limit} also suffices for the upper bound"
    if sufficiency == "likely":
        likely = "suffices without escalation" if is_cascade else "likely suffices"
        return f"{limit} {likely}, but not for the upper bound"
    short = "does not suffice even without escalation" if is_cascade else "likely does not suffice"
    if reserved_usd:
        short += f" ({numbers.format_usd(reserved_usd)} is set aside before a call)"
    return f"{limit} {short}: the run would stop with exit code 5 and could be resumed"


def _time(plan: SuitePlan) -> str:
    # Programs and endpoints are timed only by an earlier run.
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
    # Concurrency is named already, as the answers at a time.
    if slowest is not None and slowest.bound != "concurrency":
        why = f" and within the {slowest.bound} of {slowest.model}"
    return (
        f"about {compact_duration(plan.seconds)}, {plan.in_flight} answers at a time{why}{without}"
    )


def _load_cells(loads: Sequence[CallLoad]) -> tuple[str, str, str, str]:
    """Calls, tokens in and out, and the price of them together."""
    prices = [load.price_usd for load in loads if load.price_usd is not None]
    # A sum that leaves a model out is a lower bound, and has to look like one.
    bound = "" if len(prices) == len(loads) else "> "
    return (
        compact_number(sum(load.calls for load in loads)),
        compact_number(sum(load.input_tokens for load in loads)),
        compact_number(sum(load.output_tokens for load in loads)),
        f"{bound}{compact_usd(sum(prices))}" if prices else "unknown",
    )


# From here on a fraction of a point is far below what the estimate can distinguish.
_WHOLE_POINTS = 10


def _assumptions(plan: SuitePlan) -> list[str]:
    lines = [_spreads(plan.detectable), *_latencies(plan), *_lengths(plan)]
    if plan.earlier is not None:
        answers = numbers.format_count(plan.earlier.n_answers, "answer")
        lines.append(f"observed figures come from run {plan.earlier.id} ({answers})")
    counters = list(dict.fromkeys(m.counted_by for m in plan.models if m.most.calls))
    if counters:
        lines.append(f"tokens counted by {', '.join(counters)}; no reply has to be retried")
    return lines


def _detectable_text(effect: DetectableEffect) -> str:
    """For example `pass rate: a difference of 24 points or more; 5 points need 940 cases`."""
    is_rate = effect.measure == "pass_rate"

    def amount(difference: float) -> str:
        if not is_rate:
            return f"{difference:.2g}"
        points = difference * 100
        return f"{points:.0f} points" if points >= _WHOLE_POINTS else f"{points:.2g} points"

    can = "no difference of any size"
    if effect.smallest is not None:
        can = f"a difference of {amount(effect.smallest)} or more"
    need = numbers.format_count(effect.n_for_sought, "case")
    measure = "pass rate" if is_rate else "value"
    return f"{measure}: {can}; {amount(TARGET_DIFFERENCE)} {'need' if is_rate else 'needs'} {need}"


def _spreads(effects: Sequence[DetectableEffect]) -> str:
    parts = []
    for one in effects:
        words = f"differences in value have sd {one.spread:.2f}"
        if one.measure == "pass_rate":
            words = f"{one.spread * 100:.0f} % of the cases differ in passing"
        parts.append(f"{words} ({'observed' if one.is_observed else 'assumed'})")
    return f"{', '.join(parts)}; 80 % power at 5 %, two variants on the same cases"


def _latencies(plan: SuitePlan) -> list[str]:
    by_words: dict[str, dict[str, None]] = {}
    for model in plan.models:
        if model.likely.calls:
            how = f"from {model.n_latencies:,} cached replies" if model.n_latencies else "assumed"
            words = f"{numbers.format_milliseconds(model.latency_s * 1000)} a call ({how})"
            words += f", {model.max_concurrency} at a time"
            by_words.setdefault(words, {})[model.model] = None
    return [f"{compact_names([*names], 'models')}: {words}" for words, names in by_words.items()]


_TEXT_SOURCES = {
    "run": "observed", "others": "from answers of other variants", "assumed": "assumed",
}  # fmt: skip


def _lengths(plan: SuitePlan) -> list[str]:
    # Variants mostly share their figures: one line names all that do.
    by_words: dict[str, list[str]] = {}
    for one in plan.answers:
        if one.text is None or not plan.models:
            continue
        how = _TEXT_SOURCES.get(one.text_source or "assumed", "from its known answers")
        words = f"{one.text.likely:,.0f} tokens, {one.text.most:,.0f} at most ({how})"
        by_words.setdefault(words, []).append(one.variant)
    return [f"answers of {compact_names(names)} have {words}" for words, names in by_words.items()]
