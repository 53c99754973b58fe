"""The words of an audit, for the terminal and for pages: verdicts, figures, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report import view

if TYPE_CHECKING:
    from judgekit.evaluation.auditing.figures import Audit, Effect, EffectVerdict, ProbeFound

VERDICT_WORDS: dict[EffectVerdict, str] = {
    "none_seen": "none seen",
    "small": "small",
    "material": "MATERIAL",
    "cannot_say": "cannot be said",
}
"""What a verdict is called."""

_LONGEST_NOTE = 300


def conclusion(audit: Audit) -> str:
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
        parts.append(f"{view.count(fine, 'probe')} saw nothing material")
    broken_off = [probe.name for probe in made if probe.status == "incomplete"]
    if broken_off:
        parts.append(f"incomplete: {', '.join(broken_off)}")
    return "; ".join(parts) or "no probe was made"


def notes(audit: Audit) -> list[tuple[str, str]]:
    """Everything beside the effects."""
    rows = [
        ("judge", view.printable(audit.judge)),
        ("pairs", view.printable(audit.pair_judge)),
        ("asked", view.spent(audit.spent)),
        ("drawn", f"with seed {audit.seed}; each interval {audit.level * 100:g} %, by case"),
    ]
    if any(probe.effects or probe.parts for probe in audit.probes):
        rows.append(("sizes", _margins(audit)))
    for kind, n in audit.failures.items():
        words = view.FAILURE_WORDS.get(kind, kind)
        rows.append(("failed", f"{view.count(n, 'answer')}: {words}"))
        rows.append(("", view.one_line(audit.failure_messages[kind], _LONGEST_NOTE)))
    return rows


def figure(effect: Effect) -> str:
    """An effect with its interval: `+0.30 [+0.22, +0.38]`, `+35 % [+20, +50]`, `12 % [3, 30]`."""
    if effect.scale == "rate":
        return view.rate(effect.estimate)
    return (view.signed_points if effect.scale == "lean" else view.signed)(effect.estimate)


def skipped_probes(audit: Audit) -> dict[str, list[str]]:
    """The probes that were not made."""
    found: dict[str, list[str]] = {}
    for probe in audit.probes:
        if probe.status == "skipped":
            found.setdefault(view.printable(probe.reason or ""), []).append(probe.name)
    return found


def kinds_said(probe: ProbeFound) -> str:
    """Of how many kinds there are figures, what they say, and how their intervals are meant."""
    said = [part.verdict for part in probe.parts]
    words = [f"{said.count(verdict)} {name}" for verdict, name in VERDICT_WORDS.items()]
    told = ", ".join(text for text in words if not text.startswith("0 "))
    kinds = view.count(len(probe.parts), "kind")
    return f"{kinds}, with intervals that hold for all at once" + (f": {told}" if told else "")


def probe_notes(probe: ProbeFound) -> list[str]:
    """What stands below the effects of a probe."""
    lines = []
    if probe.counts:
        short = [f"{name} {_number(value)}" for name, value in probe.counts.items()]
        lines.append(view.printable("; ".join(short)))
    lines += [
        view.printable(f"{one.name}: {one.note}") for one in probe.effects if one.note is not None
    ]
    wanted = [one.n_to_tell for one in probe.effects if one.n_to_tell is not None]
    if wanted:
        lines.append(f"about {view.count(max(wanted), 'case')} would tell")
    if probe.n_left_out:
        n_left_out = view.count(probe.n_left_out, "output")
        lines.append(f"{n_left_out} left out: it cannot be tried on them")
    if probe.n_failed:
        lines.append(f"{view.count(probe.n_failed, 'question')} without a whole answer")
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
            rates.setdefault(one.margin, []).append(view.printable(one.name))
    parts = [f"a shift of {margin:g} of the value" for margin in values]
    parts += [f"a choice {margin * 100:g} points from half" for margin in leans]
    parts += [f"{margin * 100:g} % ({'; '.join(names)})" for margin, names in rates.items()]
    return f"material from {', '.join(parts)}"
