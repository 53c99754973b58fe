"""The words and the rounding of a run's plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report import plan_basis, view
from judgekit.report.rough import short_duration, short_names, short_number, short_usd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.planning.counting import Load
    from judgekit.evaluation.planning.figures import AnswersPlan, ModelPlan, SuitePlan

    Line = tuple[str, str]

_KINDS = {
    "outputs": "recorded",
    "prompt": "asked of a model",
    "command": "run as a command",
    "python": "made by a function",
    "http": "asked of an endpoint",
}
_ROLES = {"answers": "answers", "judge": "judge", "checks": "similarity"}
_UNKNOWN = "unknown"


def headline(plan: SuitePlan) -> str:
    """What would be run, on one line."""
    n_cases = view.count(plan.cases.n_chosen, "case")
    parts = [n_cases, view.count(len(plan.answers), "variant")]
    if plan.repeats > 1:
        parts.append(f"{plan.repeats} repeats")
    return (
        f"{view.printable(plan.suite)}: {' by '.join(parts)}: "
        f"{view.count(plan.n_answers, 'answer')}"
    )


def left_out(plan: SuitePlan) -> list[str]:
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
            f"worked through: {plan.n_counted:,} cases drawn at random; counts are scaled up"
        )
    if plan.n_done:
        lines.append(f"done already in this run: {view.count(plan.n_done, 'answer')}")
    return lines


def asked(model: ModelPlan) -> str:
    """Who is asked, in which role."""
    if model.role == "checks":  # its name is the model's, which stands beside it
        return _ROLES[model.role]
    name = model.name.removeprefix(f"{model.model} ").partition("@")[0]
    return f"{_ROLES[model.role]} {view.printable(name)}"


def likely_cells(model: ModelPlan) -> tuple[str, ...]:
    """What is likely asked of a model, column by column."""
    owned = f"{short_number(model.n_owned)} of {short_number(model.n_questions)}"
    time = short_duration(model.seconds) if model.likely.calls else view.DASH
    return (owned, *_load(model.likely), _price(model.likely), time)


def most_cells(model: ModelPlan) -> tuple[str, ...]:
    """What may be asked of a model at most, column by column."""
    return ("at most", *_load(model.most), _price(model.most), "")


def total_cells(plan: SuitePlan) -> tuple[str, ...]:
    """What is likely asked of all models, column by column."""
    n_questions = sum(model.n_questions for model in plan.models)
    n_owned = sum(model.n_owned for model in plan.models)
    loads = [model.likely for model in plan.models]
    time = short_duration(plan.seconds) if plan.seconds else view.DASH
    owned = f"{short_number(n_owned)} of {short_number(n_questions)}"
    return (owned, *_sum(loads), _price_of_all(loads), time)


def total_most_cells(plan: SuitePlan) -> tuple[str, ...]:
    """What may be asked of all models at most, column by column."""
    loads = [model.most for model in plan.models]
    return ("at most", *_sum(loads), _price_of_all(loads), "")


def lines(plan: SuitePlan) -> list[Line]:
    """What is said below the table: a name and a text each."""
    return [
        *_answers(plan),
        *_judging(plan),
        ("price", _money(plan)),
        *_limit(plan),
        ("time", _time(plan)),
        *[("shows", text) for text in plan_basis.shows(plan)],
        *[("assumed", text) for text in plan_basis.assumed(plan)],
    ]


def _answers(plan: SuitePlan) -> list[Line]:
    """The variants, those of a kind on one line."""
    found: list[Line] = []
    for kind, words in _KINDS.items():
        of_kind = [one for one in plan.answers if one.kind == kind]
        if of_kind:
            text = f"{short_names([one.variant for one in of_kind])}: {_count(of_kind)} {words}"
            found.append(("answers", text + _known(of_kind) + _own_cost(of_kind)))
    if plan.n_retries:
        again = view.count(plan.n_retries, "answer")
        found.append(("retries", f"up to {again} more, where answers do not pass; only in at most"))
    return found


def _known(answers: Sequence[AnswersPlan]) -> str:
    n_errors = sum(one.n_errors for one in answers)
    n_known = sum(one.n_known for one in answers)
    said = f", {n_known:,} owned already" if answers[0].kind == "prompt" and n_known else ""
    missing = "without an output" if answers[0].kind == "outputs" else "errors"
    return said + (f"; {n_errors:,} {missing}, not judged" if n_errors else "")


def _own_cost(answers: Sequence[AnswersPlan]) -> str:
    if answers[0].kind not in {"command", "python", "http"}:
        return ""
    costs = [one.cost_usd for one in answers if one.cost_usd]
    if not costs:
        return ", without a price: what they cost is not known"
    return f", about {short_usd(sum(costs))} by the latest run"


def _judging(plan: SuitePlan) -> list[Line]:
    found: list[Line] = []
    if plan.judges_by_rule:
        found.append(("rules", "the assertions judge, at no cost"))
    if plan.combine == "cascade":
        text = "the next judge is asked only where the one before is unsure; at most: everywhere"
        found.append(("cascade", text))
    elif plan.combine is not None:
        found.append(("panel", f"every judge is asked; they are combined by {plan.combine}"))
    least, most = plan.people
    if most:
        n = f"{least:,} to {most:,} questions" if least < most else view.count(most, "question")
        found.append(("people", f"{n} for a person, answered with judgekit label"))
    return found


def _money(plan: SuitePlan) -> str:
    saved = f"; {short_usd(plan.saved_usd)} saved by what is owned" if plan.saved_usd else ""
    if not any(model.most.calls for model in plan.models) and not plan.own_usd:
        return f"$0: no model has to be asked{saved}"
    if not plan.has_all_prices and not plan.most_usd:
        return f"unknown: no price is known (give one in the suite's `prices`){saved}"
    least = "" if plan.has_all_prices else "at least "
    low = f"{short_usd(plan.likely_usd)} {_low(plan)}"
    interval = f"{low}, {short_usd(plan.most_usd)} at most"
    if plan.likely_usd == plan.most_usd:
        interval = f"about {short_usd(plan.likely_usd)}"
    if plan.own_usd and plan.models:
        interval += f", {short_usd(plan.own_usd)} of it outside these models"
    unpriced = list(dict.fromkeys(m.model for m in plan.models if m.most.price_usd is None))
    unknown = f" and what {short_names(unpriced, 'models')} costs (give it in the suite's `prices`)"
    return f"{least}{interval}{unknown if unpriced else ''}{saved}"


def _low(plan: SuitePlan) -> str:
    """What the lower figures are: of a cascade nobody knows how often it escalates."""
    return "without escalation" if plan.combine == "cascade" else "likely"


def _limit(plan: SuitePlan) -> list[Line]:
    if plan.is_frozen:
        n = sum(model.likely.calls for model in plan.models)
        missing = f"{view.count(n, 'reply is', 'replies are')} not owned: the run would exit with 6"
        return [("frozen", f"nothing is asked; {missing if n else 'every reply is owned'}")]
    if plan.max_cost_usd is None or plan.sufficiency is None:
        return []
    limit = f"--max-cost {short_usd(plan.max_cost_usd)}"
    is_cascade = plan.combine == "cascade"
    likely = "suffices without escalation" if is_cascade else "likely suffices"
    short = "does not suffice even without escalation" if is_cascade else "likely does not suffice"
    said = {
        "at_most": "suffices, whatever comes",
        "likely": f"{likely}, but not for the most it may cost",
        "short": f"{short}: the run would stop, exit with 5, and could be resumed",
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
    without = f"; how long {short_names(untimed)} will take is not known" if untimed else ""
    if not plan.seconds:
        return without.removeprefix("; ") or "next to none"
    slowest = max(plan.models, key=lambda model: model.seconds, default=None)
    why = ""
    if slowest is not None and slowest.bound != "concurrency":
        why = f" and within the {slowest.bound} of {slowest.model}"
    return f"about {short_duration(plan.seconds)}, {plan.in_flight} answers at a time{why}{without}"


def _count(answers: Sequence[AnswersPlan]) -> str:
    return view.count(sum(one.n_answers for one in answers), "answer")


def _sum(loads: Sequence[Load]) -> tuple[str, str, str]:
    return (
        short_number(sum(load.calls for load in loads)),
        short_number(sum(load.input_tokens for load in loads)),
        short_number(sum(load.output_tokens for load in loads)),
    )


def _load(load: Load) -> tuple[str, str, str]:
    return (
        short_number(load.calls),
        short_number(load.input_tokens),
        short_number(load.output_tokens),
    )


def _price(load: Load) -> str:
    return _UNKNOWN if load.price_usd is None else short_usd(load.price_usd)


def _price_of_all(loads: Sequence[Load]) -> str:
    known = [load.price_usd for load in loads if load.price_usd is not None]
    if not known:
        return _UNKNOWN
    return ("" if len(known) == len(loads) else "> ") + short_usd(sum(known))
