"""An audit as a page: what each probe found, with every interval drawn, in HTML or Markdown."""

from __future__ import annotations

from functools import partial
from html import escape
from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import view
from judgekit.report.audit_terminal import audit_json
from judgekit.report.audit_view import (
    VERDICT_WORDS,
    conclusion,
    figure,
    kinds_said,
    notes,
    probe_notes,
    skipped_probes,
)
from judgekit.report.page import check_page_place, html_page, markdown_text, write_page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judgekit.evaluation.auditing.figures import Audit, Effect, ProbeFound, Scale

_ENDS: dict[Scale, tuple[float, float]] = {
    "value": (-1.0, 1.0), "lean": (-0.5, 0.5), "rate": (0.0, 1.0),
}  # fmt: skip
_WIDTH, _HEIGHT, _EDGE = 240, 22, 6
_KEY = (
    "Each bar: the dot is the effect and the line its interval, from the least to the most it can "
    "be; in the band it would not matter."
)
_STYLE = """
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


check_audit_place = partial(check_page_place, what="an audit")
"""Refuse a place that an audit cannot be written to, before anything is asked."""


def write_audit(path: Path, audit: Audit) -> None:
    """Write an audit to a file, its format chosen by the suffix; whole or not at all."""
    check_audit_place(path)
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
        body.append(f'<p class="note">{_KEY}</p>')
    for probe in audit.probes:
        if probe.status != "skipped":
            body += _section(probe)
    skipped = skipped_probes(audit)
    if skipped:
        body.append("<h2>skipped</h2>")
        body.append(_lines([(", ".join(names), reason) for reason, names in skipped.items()]))
    body += ["<h2>how it was made</h2>", _lines(notes(audit))]
    return html_page(_title(audit), body, style=_STYLE)


def audit_markdown(audit: Audit) -> str:
    """An audit as Markdown."""
    parts = [f"# {_md(_title(audit))}", _md(_size(audit)), f"**{_md(_sentence(audit))}**"]
    for probe in audit.probes:
        if probe.status == "skipped":
            continue
        parts += [f"## {probe.name}", _md(_question(probe))]
        for effects in (probe.effects, probe.parts):
            parts.append(_md_table(effects) if effects else "")
        parts += [_md(line) for line in _below(probe)]
    skipped = skipped_probes(audit)
    if skipped:
        rows = [f"- {_md(', '.join(names))}: {_md(reason)}" for reason, names in skipped.items()]
        parts += ["## skipped", "\n".join(rows)]
    rows = [
        f"- {_md(name)}: {_md(text)}" if name else f"  {_md(text)}" for name, text in notes(audit)
    ]
    parts += ["## how it was made", "\n".join(rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _title(audit: Audit) -> str:
    return f"Audit: {view.printable(audit.rubric)}"


def _size(audit: Audit) -> str:
    cases, outputs = view.count(audit.n_cases, "case"), view.count(audit.n_outputs, "output")
    return f"{view.printable(audit.judge)}; {cases}, {outputs}"


def _sentence(audit: Audit) -> str:
    said = conclusion(audit)
    return said[:1].upper() + said[1:]


def _question(probe: ProbeFound) -> str:
    if probe.status != "incomplete":
        return probe.question
    return f"{probe.question} Incomplete: {view.printable(probe.reason or '')}."


def _below(probe: ProbeFound) -> list[str]:
    return [*([kinds_said(probe)] if probe.parts else []), *probe_notes(probe)]


def _section(probe: ProbeFound) -> list[str]:
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
    return [*found, *(f'<p class="note">{_safe(line)}</p>' for line in _below(probe))]


def _table(effects: Sequence[Effect]) -> str:
    rows = []
    for effect in effects:
        verdict = effect.verdict
        kind = f' class="{verdict}"' if verdict is not None else ""
        said = view.DASH if verdict is None else VERDICT_WORDS[verdict]
        rows.append(
            f"<tr><td>{_safe(effect.name)}</td><td>{_safe(figure(effect))}</td>"
            f"<td{kind}>{_bar(effect)}</td><td{kind}>{said}</td></tr>"
        )
    return f'<table class="effects">{"".join(rows)}</table>'


def _bar(effect: Effect) -> str:
    """The effect and its interval between the least and the most it can be."""
    # The band is where it would not matter; the line across it is no effect.
    found, (low, high) = effect.estimate, _ENDS[effect.scale]
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
        f'role="img" aria-label="{_safe(figure(effect))}">{band}{whole}{zero}{span}{dot}</svg>'
    )


def _lines(rows: Sequence[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><td>{_safe(name)}</td><td>{_safe(text)}</td></tr>" for name, text in rows)
    return f'<table class="lines">{cells}</table>'


def _safe(text: str) -> str:
    return escape(view.printable(text))


def _md(text: str) -> str:
    return markdown_text(view.printable(text))


def _md_table(effects: Sequence[Effect]) -> str:
    rows = ["| effect | found | verdict |", "| --- | --- | --- |"]
    for effect in effects:
        verdict = view.DASH if effect.verdict is None else VERDICT_WORDS[effect.verdict]
        rows.append(f"| {_md(effect.name)} | {_md(figure(effect))} | {verdict} |")
    return "\n".join(rows)
