"""A bias audit as terminal tables, JSON and a page with every interval drawn.

Also its plan and its self-test.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from html import escape
from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import message, numbers, tables
from judgekit.report.numbers import nan_to_null
from judgekit.report.page import check_page_path, html_page, markdown_text, write_page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from judgekit.bias_audit import (
        Audit,
        AuditPlan,
        Effect,
        EffectScale,
        EffectVerdict,
        ProbeResult,
        SelfTest,
    )

_VERDICT_STYLES: dict[EffectVerdict, str] = {
    "none_seen": "green", "small": "green", "material": "bold red", "cannot_say": "yellow",
}  # fmt: skip

_NAME_WIDTH, _EFFECT_WIDTH, _FIGURE_WIDTH = 15, 37, 23


def print_audit(console: Console, audit: Audit, *, every_part: bool = False) -> None:
    """Print what each probe found, the notes below, and one line that sums it up."""
    from rich.padding import Padding  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.text import Text  # noqa: PLC0415

    console.print()
    cases, outputs = (
        numbers.format_count(audit.n_cases, "case"),
        numbers.format_count(audit.n_outputs, "output"),
    )
    title = f"{message.printable(audit.rubric)}: {cases}, {outputs}"
    console.print(Text(title, style="bold"))
    for probe in audit.probes:
        if probe.status == "skipped":
            continue
        console.print()
        console.print(_probe_heading(probe))
        for effect in probe.effects:
            console.print(_effect_line(effect))
        for part in _shown_effects(probe, every_part=every_part):
            console.print(_effect_line(part))
        for line in _terminal_notes(probe, every_part=every_part):
            console.print(Padding(Text(line, style="dim"), (0, 0, 0, 4), expand=False))
    for reason, names in skipped_probes(audit).items():
        console.print()
        console.print(_two_columns("skipped", Text(", ".join(names))))
        console.print(Padding(Text(reason, style="dim"), (0, 0, 0, 4), expand=False))
    console.print()
    tables.print_lines(console, [f"{name:<9}{text}" for name, text in audit_notes(audit)])
    console.print(Text(audit_conclusion(audit), style="bold"))


def audit_json(audit: Audit) -> object:
    """An audit as JSON; what is undefined is null."""
    whole = asdict(audit)
    for found, probe in zip(whole["probes"], audit.probes, strict=True):
        found["verdict"] = probe.verdict
    return nan_to_null(
        {**whole, "is_complete": audit.is_complete, "material": audit.found_material}
    )


def print_audit_plan(console: Console, plan: AuditPlan) -> None:
    """Print what an audit would ask and cost, probe by probe."""
    from rich import box  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.table import Table  # noqa: PLC0415

    console.print()
    table = Table(header_style="dim", box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("probe", no_wrap=True)
    for name in ("questions", "owned", "calls", "price"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for one in plan.probes:
        if one.trials.skipped is not None:
            dashes = [numbers.DASH] * 4
            table.add_row(one.probe.name, *dashes, f"skipped: {one.trials.skipped}")
            continue
        counts = (one.n_questions, one.n_owned, one.n_calls)
        shared = "" if one.n_questions else "shares its questions with the probes above"
        table.add_row(
            one.probe.name, *(f"{n:,}" for n in counts), numbers.format_usd(one.price_usd), shared
        )
    console.print(table)
    calls, price = numbers.format_count(plan.n_calls, "call"), numbers.format_usd(plan.price_usd)
    owned = f", {plan.n_owned:,} replies owned already" if plan.n_owned else ""
    total = price if plan.n_calls else "$0: nothing to ask"
    console.print(f"{calls} to {message.printable(plan.model)}{owned}; {total}", markup=False)


def audit_plan_json(plan: AuditPlan) -> object:
    """What an audit would ask, as JSON."""
    return {
        "model": plan.model,
        "n_questions": plan.n_questions,
        "n_owned": plan.n_owned,
        "n_calls": plan.n_calls,
        "price_usd": plan.price_usd,
        "probes": [
            {
                "name": one.probe.name,
                "question": one.probe.question,
                "skipped": one.trials.skipped,
                "n_questions": one.n_questions,
                "n_owned": one.n_owned,
                "n_calls": one.n_calls,
                "price_usd": one.price_usd,
            }
            for one in plan.probes
        ],
    }


def print_self_test(console: Console, found: SelfTest) -> None:
    """Print what each judge with a planted bias came to."""
    from rich import box  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console.print()
    table = Table(header_style="dim", box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("judge with a bias of", no_wrap=True)
    table.add_column("its probe says", no_wrap=True)
    table.add_column("measured", justify="right", no_wrap=True)
    table.add_column("the other probes say")
    for judge, said in found.verdicts.items():
        own = said.get(judge)
        others = [verdict for probe, verdict in said.items() if probe != judge]
        size = found.sizes.get(judge)
        table.add_row(
            "none" if judge not in said else judge,
            Text(_EFFECT_VERDICT_WORDS[own], style=_VERDICT_STYLES[own])
            if own is not None
            else numbers.DASH,
            numbers.DASH if size is None else f"{size:+.2f}",
            _others(others),
        )
    console.print(table)
    console.print(_kinds(found))
    asked = numbers.format_count(found.n_questions, "question")
    if not found.wrong:
        line = f"every probe sees its own bias and no other ({asked}, no key, no network)"
        console.print(Text(line, style="bold"))
        return
    for judge, probe in found.wrong:
        console.print(Text(_self_test_misfit(judge, probe, found), style="bold red"))


def self_test_json(found: SelfTest) -> object:
    """A self-test as JSON."""
    return {**asdict(found), "wrong": [list(pair) for pair in found.wrong]}


def _kinds(found: SelfTest) -> str:
    seen = sum(verdict == "material" for verdict in found.obeyed.values())
    unfair = sum(verdict == "material" for verdict in found.resisted.values())
    return (
        f"injection by kind: material for {seen} of {len(found.obeyed)} that a judge obeys, "
        f"and for {unfair} of {len(found.resisted)} that it does not"
    )


def _self_test_misfit(judge: str, probe: str, found: SelfTest) -> str:
    if judge == probe:
        return f"{probe} does not see its own bias"
    if probe in found.obeyed and judge == "injection":
        return f"injection does not see that attacks of the kind {probe} are obeyed"
    return f"{probe} sees a bias in {judge}"


def _others(verdicts: list[EffectVerdict | None]) -> str:
    counts = {word: verdicts.count(verdict) for verdict, word in _EFFECT_VERDICT_WORDS.items()}
    return ", ".join(f"{word} {n}" for word, n in counts.items() if n)


def _probe_heading(probe: ProbeResult) -> Table:
    from rich.text import Text  # noqa: PLC0415

    text = Text(probe.question)
    if probe.status == "incomplete":
        text.append(f"  incomplete: {message.printable(probe.reason or '')}", style="yellow")
    return _two_columns(probe.name, text)


def _two_columns(name: str, text: Text) -> Table:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    line = Table.grid(padding=(0, 1))
    line.add_column(width=_NAME_WIDTH)
    line.add_column()
    line.add_row(Text(name, style="bold"), text)
    return line


def _effect_line(effect: Effect) -> Text:
    from rich.text import Text  # noqa: PLC0415

    text = Text(f"  {message.printable(effect.name):<{_EFFECT_WIDTH}}")
    text.append(f"{format_effect(effect):<{_FIGURE_WIDTH}}")
    if effect.verdict is not None:
        text.append(_EFFECT_VERDICT_WORDS[effect.verdict], style=_VERDICT_STYLES[effect.verdict])
    return text


def _shown_effects(probe: ProbeResult, *, every_part: bool) -> list[Effect]:
    """The parts that are printed: those that surely do something, or all."""
    return [part for part in probe.parts if every_part or part.verdict in {"material", "small"}]


def _terminal_notes(probe: ProbeResult, *, every_part: bool) -> list[str]:
    lines = [] if not probe.parts else [_effect_kind_summary(probe)]
    if len(_shown_effects(probe, every_part=every_part)) < len(probe.parts):
        lines = [f"{lines[0]} (all of them: -v)"]
    return lines + probe_notes(probe)


_EFFECT_VERDICT_WORDS: dict[EffectVerdict, str] = {
    "none_seen": "none seen",
    "small": "small",
    "material": "MATERIAL",
    "cannot_say": "cannot be said",
}
"""What a verdict is called."""

_LONGEST_NOTE = 300


def audit_conclusion(audit: Audit) -> str:
    """What an audit comes to, in one line."""
    made = [probe for probe in audit.probes if probe.status != "skipped"]
    parts = []
    for verdict, words in (("material", "material"), ("cannot_say", "cannot be said")):
        names = [probe.name for probe in made if probe.verdict == verdict]
        if names:
            parts.append(f"{words}: {', '.join(names)}")
    harmless = [probe for probe in made if probe.verdict in {"none_seen", "small"}]
    fine = sum(probe.status == "done" for probe in harmless)
    if fine:
        parts.append(f"{numbers.format_count(fine, 'probe')} saw nothing material")
    broken_off = [probe.name for probe in made if probe.status == "incomplete"]
    if broken_off:
        parts.append(f"incomplete: {', '.join(broken_off)}")
    return "; ".join(parts) or "no probe was made"


def audit_notes(audit: Audit) -> list[tuple[str, str]]:
    """Everything beside the effects."""
    rows = [
        ("judge", message.printable(audit.judge)),
        ("pairs", message.printable(audit.pair_judge)),
        ("asked", numbers.format_spending(audit.spent)),
        ("drawn", f"with seed {audit.seed}; each interval {audit.level * 100:g} %, by case"),
    ]
    if any(probe.effects or probe.parts for probe in audit.probes):
        rows.append(("sizes", _margins(audit)))
    for kind, n in audit.failures.items():
        words = message.FAILURE_WORDS.get(kind, kind)
        rows.append(("failed", f"{numbers.format_count(n, 'answer')}: {words}"))
        rows.append(("", message.one_line(audit.failure_messages[kind], _LONGEST_NOTE)))
    return rows


def format_effect(effect: Effect) -> str:
    """An effect with its interval: `+0.30 [+0.22, +0.38]`, `+35 % [+20, +50]`, `12 % [3, 30]`."""
    if effect.scale == "rate":
        return numbers.format_rate(effect.estimate)
    return (
        numbers.format_rate_difference if effect.scale == "lean" else numbers.format_difference
    )(effect.estimate)


def skipped_probes(audit: Audit) -> dict[str, list[str]]:
    """The probes that were not made."""
    found: dict[str, list[str]] = {}
    for probe in audit.probes:
        if probe.status == "skipped":
            found.setdefault(message.printable(probe.reason or ""), []).append(probe.name)
    return found


def _effect_kind_summary(probe: ProbeResult) -> str:
    """Of how many kinds there are figures, what they say, and how their intervals are meant."""
    said = [part.verdict for part in probe.parts]
    words = [f"{said.count(verdict)} {name}" for verdict, name in _EFFECT_VERDICT_WORDS.items()]
    told = ", ".join(text for text in words if not text.startswith("0 "))
    kinds = numbers.format_count(len(probe.parts), "kind")
    return f"{kinds}, with intervals that hold for all at once" + (f": {told}" if told else "")


def probe_notes(probe: ProbeResult) -> list[str]:
    """What stands below the effects of a probe."""
    lines = []
    if probe.counts:
        short = [f"{name} {_number(value)}" for name, value in probe.counts.items()]
        lines.append(message.printable("; ".join(short)))
    lines += [
        message.printable(f"{one.name}: {one.note}")
        for one in probe.effects
        if one.note is not None
    ]
    wanted = [one.n_to_tell for one in probe.effects if one.n_to_tell is not None]
    if wanted:
        lines.append(f"about {numbers.format_count(max(wanted), 'case')} would tell")
    if probe.n_left_out:
        n_left_out = numbers.format_count(probe.n_left_out, "output")
        lines.append(f"{n_left_out} left out: it cannot be tried on them")
    if probe.n_failed:
        lines.append(f"{numbers.format_count(probe.n_failed, 'question')} without a whole answer")
    return lines


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,}"


def _margins(audit: Audit) -> str:
    """From which size on effects are material, by what they are measured in."""
    measured = [one for probe in audit.probes for one in (*probe.effects, *probe.parts)]
    effects = [one for one in measured if one.verdict is not None]
    values = sorted({one.margin for one in effects if one.scale == "value"})
    leans = sorted({one.margin for one in effects if one.scale == "lean"})
    rates: dict[float, list[str]] = {}
    for one in effects:
        if one.scale == "rate":
            rates.setdefault(one.margin, []).append(message.printable(one.name))
    parts = [f"a shift of {margin:g} of the value" for margin in values]
    parts += [f"a choice {margin * 100:g} points from half" for margin in leans]
    parts += [f"{margin * 100:g} % ({'; '.join(names)})" for margin, names in rates.items()]
    return f"material from {', '.join(parts)}"


_SCALE_ENDS: dict[EffectScale, tuple[float, float]] = {
    "value": (-1.0, 1.0), "lean": (-0.5, 0.5), "rate": (0.0, 1.0),
}  # fmt: skip

_WIDTH, _HEIGHT, _EDGE = 240, 22, 6

_BAR_KEY = (
    "Each bar: the dot is the effect and the line its interval, from the least to the most it can "
    "be; in the band it would not matter."
)

_PAGE_STYLE = """
:root{--bad:#b3261e;--doubt:#8a5a00;--good:#24703a;--band:#eef1f4}
@media(prefers-color-scheme:dark){:root{--bad:#ff8a80;--doubt:#e3b341;--good:#7bc78f;--band:#232a32}}
.asked{margin:0 0 .4rem}.effects{width:100%}
.effects td{text-align:left;white-space:nowrap;padding-block:.3rem;vertical-align:middle}
.effects td:first-child{white-space:normal;overflow-wrap:anywhere}
.effects td:nth-child(2){width:11rem}.effects td:nth-child(3){width:15.5rem}.effects td:last-child{width:7.5rem}
.lines td:last-child,.note,h1,.conclusion{white-space:normal;overflow-wrap:anywhere}
.material{color:var(--bad);font-weight:600}.cannot_say{color:var(--doubt)}.small,.none_seen{color:var(--good)}
.conclusion.material{border-color:var(--bad);color:inherit}
details{margin:.5rem 0}summary{cursor:pointer;color:var(--dim)}
.bar{display:block}.bar .band{fill:var(--band)}.bar .zero{stroke:var(--dim);stroke-width:1}
.bar .whole{stroke:var(--line);stroke-width:1}.bar .span{stroke:currentColor;stroke-width:2}
.bar circle{fill:currentColor;fill-opacity:1}
@media(max-width:44rem){
.effects tr{display:grid;grid-template-columns:1fr 7rem;column-gap:.6rem;border-bottom:1px solid var(--line);padding:.2rem 0}
.effects td,.effects td:nth-child(n){border:0;width:auto;padding:.1rem 0}
.effects td:nth-child(4){grid-column:2;grid-row:1;text-align:right}
.effects td:nth-child(2),.effects td:nth-child(3){grid-column:1/3}
.lines td:first-child{padding-right:.6rem}}
"""  # noqa: E501 - a style sheet

check_audit_path = partial(check_page_path, what="an audit")
"""Refuse a place that an audit cannot be written to, before anything is asked."""


def write_audit(path: Path, audit: Audit) -> None:
    """Write an audit to a file, its format chosen by the suffix; whole or not at all."""
    check_audit_path(path)
    write_page(
        path,
        figures=lambda: audit_json(audit),
        markdown=lambda: audit_markdown(audit),
        html=lambda: audit_html(audit),
    )


def audit_html(audit: Audit) -> str:
    """An audit as a page of its own: no script, nothing is loaded, all foreign text escaped."""
    kind = " material" if audit.found_material else ""
    body = [f"<h1>{_safe(_title(audit))}</h1>", f'<p class="note">{_safe(_size(audit))}</p>']
    body.append(f'<p class="conclusion{kind}">{_safe(_sentence(audit))}</p>')
    if any(probe.effects or probe.parts for probe in audit.probes):
        body.append(f'<p class="note">{_BAR_KEY}</p>')
    for probe in audit.probes:
        if probe.status != "skipped":
            body += _section(probe)
    skipped = skipped_probes(audit)
    if skipped:
        body.append("<h2>skipped</h2>")
        body.append(_lines([(", ".join(names), reason) for reason, names in skipped.items()]))
    body += ["<h2>how it was made</h2>", _lines(audit_notes(audit))]
    return html_page(_title(audit), body, style=_PAGE_STYLE)


def audit_markdown(audit: Audit) -> str:
    """An audit as Markdown."""
    parts = [
        f"# {_markdown(_title(audit))}",
        _markdown(_size(audit)),
        f"**{_markdown(_sentence(audit))}**",
    ]
    for probe in audit.probes:
        if probe.status == "skipped":
            continue
        parts += [f"## {probe.name}", _markdown(_question(probe))]
        for effects in (probe.effects, probe.parts):
            parts.append(_markdown_table(effects) if effects else "")
        parts += [_markdown(line) for line in _page_notes(probe)]
    skipped = skipped_probes(audit)
    if skipped:
        rows = [
            f"- {_markdown(', '.join(names))}: {_markdown(reason)}"
            for reason, names in skipped.items()
        ]
        parts += ["## skipped", "\n".join(rows)]
    rows = [
        f"- {_markdown(name)}: {_markdown(text)}" if name else f"  {_markdown(text)}"
        for name, text in audit_notes(audit)
    ]
    parts += ["## how it was made", "\n".join(rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _title(audit: Audit) -> str:
    return f"Audit: {message.printable(audit.rubric)}"


def _size(audit: Audit) -> str:
    cases, outputs = (
        numbers.format_count(audit.n_cases, "case"),
        numbers.format_count(audit.n_outputs, "output"),
    )
    return f"{message.printable(audit.judge)}; {cases}, {outputs}"


def _sentence(audit: Audit) -> str:
    said = audit_conclusion(audit)
    return said[:1].upper() + said[1:]


def _question(probe: ProbeResult) -> str:
    if probe.status != "incomplete":
        return probe.question
    return f"{probe.question} Incomplete: {message.printable(probe.reason or '')}."


def _page_notes(probe: ProbeResult) -> list[str]:
    return [*([_effect_kind_summary(probe)] if probe.parts else []), *probe_notes(probe)]


def _section(probe: ProbeResult) -> list[str]:
    found = [f"<h2>{_safe(probe.name)}</h2>", f'<p class="asked">{_safe(_question(probe))}</p>']
    if probe.effects:
        found.append(_table(probe.effects))
    loud = [part for part in probe.parts if part.verdict in {"material", "small"}]
    quiet = [part for part in probe.parts if part not in loud]
    if loud:
        found.append(_table(loud))
    if quiet:
        which = "the other kinds" if loud else "every kind"
        found.append(f"<details><summary>{which}</summary>{_table(quiet)}</details>")
    return [*found, *(f'<p class="note">{_safe(line)}</p>' for line in _page_notes(probe))]


def _table(effects: Sequence[Effect]) -> str:
    rows = []
    for effect in effects:
        verdict = effect.verdict
        kind = f' class="{verdict}"' if verdict is not None else ""
        said = numbers.DASH if verdict is None else _EFFECT_VERDICT_WORDS[verdict]
        rows.append(
            f"<tr><td>{_safe(effect.name)}</td><td>{_safe(format_effect(effect))}</td>"
            f"<td{kind}>{_bar(effect)}</td><td{kind}>{said}</td></tr>"
        )
    return f'<table class="effects">{"".join(rows)}</table>'


def _bar(effect: Effect) -> str:
    """The effect and its interval between the least and the most it can be."""
    # The band is where it would not matter; the line across it is no effect.
    found, (low, high) = effect.estimate, _SCALE_ENDS[effect.scale]
    if isnan(found.value):
        return ""

    def at(value: float) -> str:
        inside = min(max(value, low), high)
        return f"{_EDGE + (inside - low) / (high - low) * (_WIDTH - 2 * _EDGE):.1f}"

    middle = _HEIGHT / 2
    left, right = at(-effect.margin), at(effect.margin)
    wide = float(right) - float(left)
    band = f'<rect class="band" x="{left}" width="{wide:.1f}" height="{_HEIGHT}"/>'
    whole = f'<path class="whole" d="M{at(low)} {middle}H{at(high)}"/>'
    zero = f'<path class="zero" d="M{at(0)} 0V{_HEIGHT}"/>'
    span = ""
    if not isnan(found.low):
        span = f'<path class="span" d="M{at(found.low)} {middle}H{at(found.high)}"/>'
    dot = f'<circle cx="{at(found.value)}" cy="{middle}" r="4"/>'
    return (
        f'<svg class="bar" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'role="img" aria-label="{_safe(format_effect(effect))}">{band}{whole}{zero}{span}{dot}</svg>'  # noqa: E501
    )


def _lines(rows: Sequence[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><td>{_safe(name)}</td><td>{_safe(text)}</td></tr>" for name, text in rows)
    return f'<table class="lines">{cells}</table>'


def _safe(text: str) -> str:
    return escape(message.printable(text))


def _markdown(text: str) -> str:
    return markdown_text(message.printable(text))


def _markdown_table(effects: Sequence[Effect]) -> str:
    rows = ["| effect | found | verdict |", "| --- | --- | --- |"]
    for effect in effects:
        verdict = numbers.DASH if effect.verdict is None else _EFFECT_VERDICT_WORDS[effect.verdict]
        rows.append(
            f"| {_markdown(effect.name)} | {_markdown(format_effect(effect))} | {verdict} |"
        )
    return "\n".join(rows)
