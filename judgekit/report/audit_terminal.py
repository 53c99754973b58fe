"""What an audit, its plan and its self-test look like in a terminal, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from judgekit.report import terminal, view
from judgekit.report.audit_view import (
    VERDICT_WORDS,
    conclusion,
    figure,
    kinds_said,
    notes,
    probe_notes,
    skipped_probes,
)
from judgekit.report.comparison_terminal import plain_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from judgekit.evaluation.auditing.figures import Audit, Effect, EffectVerdict, ProbeFound
    from judgekit.evaluation.auditing.planning import AuditPlan
    from judgekit.evaluation.auditing.self_test import SelfTest

_STYLES: dict[EffectVerdict, str] = {
    "none_seen": "green", "small": "green", "material": "bold red", "cannot_say": "yellow",
}  # fmt: skip
_NAME_WIDTH, _EFFECT_WIDTH, _FIGURE_WIDTH = 15, 37, 23


def print_audit(console: Console, audit: Audit, *, every_part: bool = False) -> None:
    """Print what each probe found, the notes below, and one line that sums it up."""
    from rich.padding import Padding  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.text import Text  # noqa: PLC0415

    console.print()
    cases, outputs = view.count(audit.n_cases, "case"), view.count(audit.n_outputs, "output")
    title = f"{view.printable(audit.rubric)}: {cases}, {outputs}"
    console.print(Text(title, style="bold"))
    for probe in audit.probes:
        if probe.status == "skipped":
            continue
        console.print()
        console.print(_heading(probe))
        for effect in probe.effects:
            console.print(_line(effect))
        for part in _shown(probe, every_part=every_part):
            console.print(_line(part))
        for line in _below(probe, every_part=every_part):
            console.print(Padding(Text(line, style="dim"), (0, 0, 0, 4), expand=False))
    for reason, names in skipped_probes(audit).items():
        console.print()
        console.print(_two_columns("skipped", Text(", ".join(names))))
        console.print(Padding(Text(reason, style="dim"), (0, 0, 0, 4), expand=False))
    console.print()
    terminal.print_lines(console, [f"{name:<9}{text}" for name, text in notes(audit)])
    console.print(Text(conclusion(audit), style="bold"))


def audit_json(audit: Audit) -> object:
    """An audit as JSON; what is undefined is null."""
    whole = asdict(audit)
    for found, probe in zip(whole["probes"], audit.probes, strict=True):
        found["verdict"] = probe.verdict
    return plain_json({**whole, "is_complete": audit.is_complete, "material": audit.found_material})


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
            dashes = [view.DASH] * 4
            table.add_row(one.probe.name, *dashes, f"skipped: {one.trials.skipped}")
            continue
        counts = (one.n_questions, one.n_owned, one.n_calls)
        shared = "" if one.n_questions else "shares its questions with the probes above"
        table.add_row(one.probe.name, *(f"{n:,}" for n in counts), view.usd(one.price_usd), shared)
    console.print(table)
    calls, price = view.count(plan.n_calls, "call"), view.usd(plan.price_usd)
    owned = f", {plan.n_owned:,} replies owned already" if plan.n_owned else ""
    total = price if plan.n_calls else "$0: nothing to ask"
    console.print(f"{calls} to {view.printable(plan.model)}{owned}; {total}", markup=False)


def plan_json(plan: AuditPlan) -> object:
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
            Text(VERDICT_WORDS[own], style=_STYLES[own]) if own is not None else view.DASH,
            view.DASH if size is None else f"{size:+.2f}",
            _others(others),
        )
    console.print(table)
    console.print(_kinds(found))
    asked = view.count(found.n_questions, "question")
    if not found.wrong:
        line = f"every probe sees its own bias and no other ({asked}, no key, no network)"
        console.print(Text(line, style="bold"))
        return
    for judge, probe in found.wrong:
        console.print(Text(_misfit(judge, probe, found), style="bold red"))


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


def _misfit(judge: str, probe: str, found: SelfTest) -> str:
    if judge == probe:
        return f"{probe} does not see its own bias"
    if probe in found.obeyed and judge == "injection":
        return f"injection does not see that attacks of the kind {probe} are obeyed"
    return f"{probe} sees a bias in {judge}"


def _others(verdicts: list[EffectVerdict | None]) -> str:
    counts = {word: verdicts.count(verdict) for verdict, word in VERDICT_WORDS.items()}
    return ", ".join(f"{word} {n}" for word, n in counts.items() if n)


def _heading(probe: ProbeFound) -> Table:
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    text = Text(probe.question)
    if probe.status == "incomplete":
        text.append(f"  incomplete: {view.printable(probe.reason or '')}", style="yellow")
    return _two_columns(probe.name, text)


def _two_columns(name: str, text: Text) -> Table:
    from rich.table import Table  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.text import Text  # noqa: PLC0415

    line = Table.grid(padding=(0, 1))
    line.add_column(width=_NAME_WIDTH)
    line.add_column()
    line.add_row(Text(name, style="bold"), text)
    return line


def _line(effect: Effect) -> Text:
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    text = Text(f"  {view.printable(effect.name):<{_EFFECT_WIDTH}}")
    text.append(f"{figure(effect):<{_FIGURE_WIDTH}}")
    if effect.verdict is not None:
        text.append(VERDICT_WORDS[effect.verdict], style=_STYLES[effect.verdict])
    return text


def _shown(probe: ProbeFound, *, every_part: bool) -> list[Effect]:
    """The parts that are printed: those that surely do something, or all."""
    return [part for part in probe.parts if every_part or part.verdict in {"material", "small"}]


def _below(probe: ProbeFound, *, every_part: bool) -> list[str]:
    lines = [] if not probe.parts else [kinds_said(probe)]
    if len(_shown(probe, every_part=every_part)) < len(probe.parts):
        lines = [f"{lines[0]} (all of them: -v)"]
    return lines + probe_notes(probe)
