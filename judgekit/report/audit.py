"""Builds the documents of a bias audit: its findings, its plan and its self-test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from judgekit.bias_audit import ALSO_SEEN, REPEATS_COUNT
from judgekit.report import message, numbers
from judgekit.report.document import (
    Cell,
    Column,
    Conclusion,
    Details,
    Document,
    Entries,
    Entry,
    IntervalBar,
    Lines,
    Notes,
    Section,
    Table,
    Tone,
    failure_lines,
    fields_of,
    not_empty,
    sampling_line,
)

if TYPE_CHECKING:
    from judgekit.bias_audit import (
        Audit,
        AuditPlan,
        Effect,
        EffectScale,
        EffectVerdict,
        ProbeResult,
        SelfTest,
    )
    from judgekit.evaluation import JudgePlan

_VERDICT_TONES: dict[EffectVerdict | None, Tone] = {
    "none_seen": "pass", "small": "pass", "material": "fail", "cannot_say": "inconclusive",
}  # fmt: skip

_SCALE_ENDS: dict[EffectScale, tuple[float, float]] = {
    "value": (-1.0, 1.0), "lean": (-0.5, 0.5), "rate": (0.0, 1.0),
}  # fmt: skip

_COLUMNS = (Column("effect", "text"), Column("found"), Column("", "bar"), Column("result", "text"))

_BAR_KEY = (
    "Each bar on a page: the dot is the effect, the line its interval, from the smallest to the "
    "largest possible value; an effect inside the band would not matter."
)


def audit_document(audit: Audit) -> Document:
    """An audit: what each probe found, and how the probes were made."""
    cases = numbers.format_count(audit.n_cases, "case")
    outputs = numbers.format_count(audit.n_outputs, "output")
    made = [probe for probe in audit.probes if probe.status != "skipped"]
    reasons: dict[str, list[str]] = {}
    for probe in audit.probes:
        if probe.status == "skipped":
            reasons.setdefault(probe.reason or "", []).append(probe.name)
    skipped = tuple(Entry(", ".join(names), (why,)) for why, names in reasons.items())
    has_figures = any(probe.effects or probe.parts for probe in made)
    return Document(
        kind="Bias audit",
        title=f"Audit of {audit.rubric}: {cases}, {outputs}",
        conclusion=_conclusion(audit),
        blocks=not_empty([
            *map(_probe_section, made),
            Entries(skipped, "Skipped probes"),
            Lines(tuple(audit_notes(audit)), "How it was measured"),
            Details("How to read the bars", (Notes((_BAR_KEY,)),)) if has_figures else None,
        ]),
        data=lambda: {
            **asdict(audit),
            "probes": [{**asdict(probe), "verdict": probe.verdict} for probe in audit.probes],
            "is_complete": audit.is_complete,
            "material": audit.found_material,
        },
    )  # fmt: skip


def _conclusion(audit: Audit) -> Conclusion:
    made = [probe.verdict for probe in audit.probes if probe.status != "skipped"]
    is_open = not made or "cannot_say" in made or not audit.is_complete
    tone: Tone = "fail" if "material" in made else "inconclusive" if is_open else "pass"
    text = audit_conclusion(audit)
    return Conclusion(f"{text[:1].upper()}{text[1:]}.", tone)


def _probe_section(probe: ProbeResult) -> Section:
    is_whole = probe.status != "incomplete"
    intro = probe.question if is_whole else f"{probe.question} Incomplete: {probe.reason or ''}."
    loud = [part for part in probe.parts if part.verdict in {"material", "small"}]
    quiet = [part for part in probe.parts if part not in loud]
    notes = [*([_effect_kind_summary(probe)] if probe.parts else []), *probe_notes(probe)]
    blocks = not_empty([
        _effect_table([*probe.effects, *loud]),
        Notes(tuple(notes)),
        Details("The other kinds" if loud else "Every kind", not_empty([_effect_table(quiet)])),
    ])  # fmt: skip
    return Section(probe.name, blocks, intro, "neutral" if is_whole else "inconclusive")


def _effect_table(effects: Sequence[Effect]) -> Table:
    rows = []
    for effect in effects:
        words = numbers.DASH if effect.verdict is None else _EFFECT_VERDICT_WORDS[effect.verdict]
        tone = _VERDICT_TONES.get(effect.verdict)
        figure = format_effect(effect)
        bar = IntervalBar(effect.estimate, _SCALE_ENDS[effect.scale], effect.margin)
        rows.append((
            effect.name,
            Cell(figure, estimate=effect.estimate),
            Cell(figure, tone, bar=bar),
            Cell(words, tone),
        ))  # fmt: skip
    return Table(_COLUMNS, tuple(rows))


def audit_plan_document(plan: AuditPlan) -> Document:
    """The questions of an audit and their price, probe by probe."""
    rows: list[tuple[str, ...]] = []
    for one in plan.probes:
        if one.trials.skipped is not None:
            rows.append((one.probe.name, *[numbers.DASH] * 4, f"skipped: {one.trials.skipped}"))
            continue
        own = one.calls
        note = "" if own.n_questions else "shares its questions with the probes above"
        own_price, _ = own.price_usd or (None, None)
        counts = (f"{n:,}" for n in (own.n_questions, own.n_owned, own.n_calls))
        rows.append((one.probe.name, *counts, numbers.format_usd(own_price), note))
    names = ("questions", "cached", "calls", "price")
    columns = (Column("probe", "text"), *map(Column, names), Column("", "text"))
    total = plan.calls
    calls, model = numbers.format_count(total.n_calls, "call"), message.without_folders(total.model)
    cached = f", {total.n_owned:,} replies already cached" if total.n_owned else ""
    likely_price, most_price = map(numbers.format_usd, total.price_usd or (None, None))
    price = likely_price if total.n_calls else "$0 (no calls needed)"
    if n_too_dear := sum(one.is_too_dear for one in plan.probes):
        price = f"{likely_price}; --max-cost leaves out "
        price += numbers.format_count(n_too_dear, "probe")
    likely, most = total.output_tokens
    totals = [
        ("tokens to send", f"{total.input_tokens:,}"),
        ("tokens to receive", f"{likely:,} likely, {most:,} at most (estimate)"),
    ]
    if total.n_calls and total.price_usd is not None:
        totals.append(("price", f"{likely_price} likely, {most_price} at most"))
    return Document(
        kind="Plan",
        title="Plan of an audit",
        conclusion=Conclusion(f"{calls} to {model}{cached}; {price}."),
        blocks=not_empty([Table(columns, tuple(rows)), Lines(tuple(totals))]),
        data=lambda: _plan_data(plan),
    )


def _plan_data(plan: AuditPlan) -> object:
    def calls_of(calls: JudgePlan) -> dict[str, object]:
        counts = ("n_questions", "n_owned", "n_calls", "input_tokens", "output_tokens")
        likely, most = calls.price_usd or (None, None)
        return {**fields_of(calls, *counts), "price_usd": likely, "most_usd": most}

    probes = [
        {
            **fields_of(one.probe, "name", "question"),
            "skipped": one.trials.skipped,
            **calls_of(one.calls),
        }
        for one in plan.probes
    ]
    return {"model": plan.calls.model, **calls_of(plan.calls), "probes": probes}


def self_test_document(found: SelfTest) -> Document:
    """The results of the probes on simulated judges with planted biases."""
    rows: list[tuple[str | Cell, ...]] = []
    for judge, verdicts in found.verdicts.items():
        own = verdicts.get(judge)
        others = [verdict for probe, verdict in verdicts.items() if probe != judge]
        size = found.sizes.get(judge)
        words = numbers.DASH if own is None else _EFFECT_VERDICT_WORDS[own]
        counts = {word: others.count(verdict) for verdict, word in _EFFECT_VERDICT_WORDS.items()}
        rows.append((
            "none" if judge not in verdicts else judge,
            Cell(words, _VERDICT_TONES.get(own)),
            numbers.format_decimal(size, "+.2f"),
            ", ".join(f"{word} {n}" for word, n in counts.items() if n),
        ))  # fmt: skip
    columns = (
        Column("planted bias", "text"),
        Column("its probe", "text"),
        Column("measured"),
        Column("the other probes", "text"),
    )
    questions = numbers.format_count(found.n_questions, "question")
    text = (
        "Every probe detects its own bias, and none reports one without cause "
        f"({questions}, no key, no network)."
    )
    if found.wrong:
        text = f"{numbers.format_count(len(found.wrong), 'probe result')} not as planted."
    misfits = tuple(_self_test_misfit(judge, probe, found) for judge, probe in found.wrong)
    also_seen = [
        f"{probe} is right to report {judge} too: {why}"
        for (judge, probe), why in ALSO_SEEN.items()
        if found.verdicts.get(judge, {}).get(probe) == "material"
    ]
    return Document(
        kind="Self-test",
        title="Self-test of the probes",
        conclusion=Conclusion(text, "fail" if found.wrong else "pass"),
        blocks=not_empty([
            Notes(misfits, "Not as planted"), Table(columns, tuple(rows)),
            Notes((_kinds(found), *also_seen)),
        ]),
        data=lambda: {**asdict(found), "wrong": [list(pair) for pair in found.wrong]},
    )  # fmt: skip


def _kinds(found: SelfTest) -> str:
    detected = sum(verdict == "material" for verdict in found.obeyed.values())
    false_alarms = sum(verdict == "material" for verdict in found.resisted.values())
    return (
        f"injection by kind: material for {detected} of {len(found.obeyed)} that the judge obeys, "
        f"and for {false_alarms} of {len(found.resisted)} that it does not"
    )


def _self_test_misfit(judge: str, probe: str, found: SelfTest) -> str:
    if judge == probe:
        return f"{probe} misses its own bias"
    if probe in found.obeyed and judge == "injection":
        return f"injection misses obeyed attacks of the kind {probe}"
    return f"{probe} reports a bias in {judge}"


_EFFECT_VERDICT_WORDS: dict[EffectVerdict, str] = {
    "none_seen": "none seen",
    "small": "small",
    "material": "MATERIAL",
    "cannot_say": "inconclusive",
}
"""What a verdict is called."""

# The keys of the JSON stay what they are; on a terminal they would not make a sentence.
_COUNT_WORDS = {
    REPEATS_COUNT: "{} repeats",
    "sd within an output": "sd {} within an output",
    "outputs with one value throughout": "{} outputs scored identically",
    "pairs": "{} pairs",
    "contradict themselves": "{} with contradictory orders",
    "first both times": "first place preferred in both orders {}",
    "second both times": "second place in both {}",
    "scored": "{} scored",
    "raised": "{} raised",
    "lowered": "{} lowered",
    "at the best value already": "{} at the best value already",
}


def audit_conclusion(audit: Audit) -> str:
    """The result of an audit in one line."""
    made = [probe for probe in audit.probes if probe.status != "skipped"]
    material = [probe.name for probe in made if probe.verdict == "material"]
    unclear = [probe.name for probe in made if probe.verdict == "cannot_say"]
    incomplete = [probe.name for probe in made if probe.status == "incomplete"]
    harmless = [probe for probe in made if probe.verdict in {"none_seen", "small"}]
    fine = sum(probe.status == "done" for probe in harmless)
    parts = [
        f"material: {', '.join(material)}" if material else "",
        f"inconclusive: {', '.join(unclear)}" if unclear else "",
        f"no material bias in {numbers.format_count(fine, 'probe')}" if fine else "",
        f"incomplete: {', '.join(incomplete)}" if incomplete else "",
    ]
    return "; ".join(filter(None, parts)) or "no probe could be run"


def audit_notes(audit: Audit) -> list[tuple[str, str]]:
    rows = [
        ("judge", message.without_folders(audit.judge)),
        ("pairs", message.without_folders(audit.pair_judge)),
        ("calls", numbers.format_spending(audit.spent)),
        sampling_line(audit.seed, audit.level),
    ]
    if any(probe.effects or probe.parts for probe in audit.probes):
        rows.append(("sizes", _margins(audit)))
    return rows + failure_lines(audit.failures, audit.failure_messages, "answer")


def format_effect(effect: Effect) -> str:
    """An effect with its interval: `+0.30 [+0.22, +0.38]`, `+35 % [+20, +50]`, `12 % [3, 30]`."""
    if effect.scale == "lean":
        return numbers.format_rate_difference(effect.estimate)
    as_text = numbers.format_rate if effect.scale == "rate" else numbers.format_difference
    return as_text(effect.estimate)


def _effect_kind_summary(probe: ProbeResult) -> str:
    n = Counter(part.verdict for part in probe.parts)
    counts = ", ".join(f"{n[key]} {name}" for key, name in _EFFECT_VERDICT_WORDS.items() if n[key])
    kinds = numbers.format_count(len(probe.parts), "kind")
    return f"{kinds}, with simultaneous intervals" + (f": {counts}" if counts else "")


def probe_notes(probe: ProbeResult) -> list[str]:
    """The notes below the effects of a probe."""
    lines = []
    if probe.counts:
        counts = {k: v if isinstance(v, str) else f"{v:,}" for k, v in probe.counts.items()}
        words = [_COUNT_WORDS.get(name, f"{name} {{}}").format(n) for name, n in counts.items()]
        lines.append("; ".join(words))
    lines += [f"{one.name}: {one.note}" for one in probe.effects if one.note is not None]
    wanted = [one.n_to_tell for one in probe.effects if one.n_to_tell is not None]
    if wanted:
        lines.append(f"about {numbers.format_count(max(wanted), 'case')} needed for a result")
    if probe.n_left_out:
        n_left_out = numbers.format_count(probe.n_left_out, "output")
        lines.append(f"{n_left_out} excluded: the probe does not apply to them")
    if probe.n_failed:
        n_failed = numbers.format_count(probe.n_failed, "question")
        lines.append(f"{n_failed} without a complete answer")
    return lines


def _margins(audit: Audit) -> str:
    measured = [one for probe in audit.probes for one in (*probe.effects, *probe.parts)]
    names: dict[EffectScale, dict[float, list[str]]] = {"value": {}, "lean": {}, "rate": {}}
    for one in measured:
        if one.verdict is not None:
            names[one.scale].setdefault(one.margin, []).append(one.name)
    parts = [f"a shift of {margin:g} of the value" for margin in sorted(names["value"])]
    parts += [f"a choice {margin * 100:g} points from half" for margin in sorted(names["lean"])]
    parts += [f"{margin * 100:g} % ({'; '.join(of)})" for margin, of in names["rate"].items()]
    return f"material from {', '.join(parts)}"
