from __future__ import annotations

import json
import re
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.bias_audit import Audit, Effect, ProbeResult, SelfTest
from judgekit.evaluation import JudgeUsage
from judgekit.report import audit_document, document_data, print_document, self_test_document
from judgekit.report.audit import audit_conclusion, audit_notes, format_effect
from judgekit.stats.estimate import Estimate, undefined_estimate
from tests.report.drawing import drawn, plain_console

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from judgekit.bias_audit import EffectVerdict


def shown(draw: Callable[[Console], None], width: int = 100) -> str:
    console = plain_console(width)
    draw(console)
    return drawn(console)


def effect(value: float, half: float = 0.05, **fields: Any) -> Effect:
    known: dict[str, Any] = {
        "name": "score with padding",
        "estimate": Estimate(value=value, low=value - half, high=value + half, n=20, method="t"),
        "scale": "value",
        "margin": 0.05,
        "verdict": "material",
    }
    return Effect(**known | fields)


def probe(name: str = "verbosity", *effects: Effect, **fields: Any) -> ProbeResult:
    known = {"question": "Does it reward length?", "status": "done", "effects": effects}
    return ProbeResult(**{"name": name} | known | fields)


def audit(*probes: ProbeResult, **fields: Any) -> Audit:
    known: dict[str, Any] = {
        "judge": "openai/m pointwise/criterion@1",
        "pair_judge": "openai/m pairwise/criterion@1",
        "models": ("m",),
        "rubric": "support",
        "rubric_fingerprint": "f",
        "n_cases": 20,
        "n_outputs": 40,
        "seed": 7,
        "level": 0.95,
        "failures": {},
        "failure_messages": {},
        "spent": JudgeUsage(n_replies=80, cost_usd=0.5),
    }
    return Audit(**known | {"probes": probes} | fields)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (effect(0.3), "+0.30 [+0.25, +0.35]"),
        (effect(0.0, 0.001), "0.000 [-0.001, +0.001]"),
        (effect(-0.00001, 0.001), "0.000 [-0.001, +0.001]"),
        (effect(-0.15, scale="lean"), "-15 % [-20, -10]"),
        (effect(0.12, scale="rate"), "12 % [7, 17]"),
        (effect(0.3, nan), "+0.30"),
        (effect(0.3, estimate=undefined_estimate("none", n=0, method="t")), "–"),
    ],
)
def test_an_effect_is_written_in_what_it_is_measured_in(given: Effect, words: str) -> None:
    assert format_effect(given) == words


def test_a_report_fits_into_80_columns_and_names_every_probe() -> None:
    reason = "no case has two different outputs, and this goes on for quite a while to be wrapped"
    found = audit(
        probe("verbosity", effect(0.3), counts={"now passes": 1200, "own family": "GPT"}),
        probe("position", status="skipped", reason=reason),
        probe("stability", effect(0.1, 0.2, verdict="cannot_say", n_to_tell=90), n_left_out=2),
        probe("scale", status="incomplete", reason="it was interrupted", n_failed=3),
        probe("authority", effect(-0.2, note="it lowers the score", verdict=None)),
    )
    text = shown(lambda to: print_document(to, audit_document(found)), width=80)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "Audit of support: 20 cases, 40 outputs" in text
    assert re.search(r"score with padding +\+0\.30 \[\+0\.25, \+0\.35\] +MATERIAL", text)
    assert "now passes 1,200; own family GPT" in text
    assert "Skipped probes\n  position\n    no case has two different outputs" in text
    assert "about 90 cases needed for a result" in text
    assert "2 outputs excluded: the probe does not apply to them" in text
    assert "Incomplete: it was interrupted" in text
    assert "3 questions without a complete answer" in text
    assert "score with padding: it lowers the score" in text


def test_nothing_foreign_runs_in_the_terminal() -> None:
    hostile = "\x1b[31m[red]x[/]"
    found = audit(probe("position", status="skipped", reason=hostile), rubric=hostile)
    text = shown(lambda to: print_document(to, audit_document(found)))
    assert "\x1b" not in text
    assert "[red]x[/]" in text


def test_probes_skipped_for_the_same_reason_are_told_together() -> None:
    given = [probe(f"p{k}", status="skipped", reason=f"reason {k % 2}") for k in range(4)]
    text = shown(lambda to: print_document(to, audit_document(audit(*given))))
    assert "  p0, p2\n    reason 0\n" in text
    assert "  p1, p3\n    reason 1\n" in text


@pytest.mark.parametrize(
    ("verdicts", "line"),
    [
        (["material", "small"], "material: p0; no material bias in 1 probe"),
        (["cannot_say", "cannot_say"], "inconclusive: p0, p1"),
        (["none_seen", "small", "none_seen"], "no material bias in 3 probes"),
        ([], "no probe could be run"),
    ],
)
def test_one_line_says_what_an_audit_comes_to(verdicts: list[EffectVerdict], line: str) -> None:
    probes = [probe(f"p{k}", effect(0.1, verdict=v)) for k, v in enumerate(verdicts)]
    skipped = probe("skipped", status="skipped", reason="no")
    assert audit_conclusion(audit(*probes, skipped)) == line


def told(found: Audit) -> str:
    return "\n".join(f"{name:<9}{text}" for name, text in audit_notes(found))


def test_a_probe_that_was_broken_off_is_not_said_to_have_seen_nothing() -> None:
    fine = effect(0.0, verdict="none_seen")
    some = probe("a", fine, status="incomplete", reason="it was interrupted")
    assert audit_conclusion(audit(some)) == "incomplete: a"
    assert audit_conclusion(audit(some, probe("b", fine))) == (
        "no material bias in 1 probe; incomplete: a"
    )


def test_the_notes_say_who_was_asked_and_from_which_size_on_it_matters() -> None:
    rate = effect(0.1, scale="rate", name="no tie", margin=0.1)
    lean = effect(0.1, scale="lean", margin=0.1)
    said = told(audit(probe("a", effect(0.1), rate, lean)))
    assert "judge    openai/m pointwise/criterion@1" in said
    assert "calls    80 replies, $0.50 spent" in said
    assert "seed 7; 95 % intervals" in said
    assert "material from a shift of 0.05 of the value, a choice 10 points from half" in said
    assert "10 % (no tie)" in said
    assert "sizes" in told(audit(probe("a", parts=(effect(0.1),))))
    assert "sizes" not in told(audit(probe("a")))


def test_failures_are_told_by_kind_with_what_the_first_one_says() -> None:
    said = audit_notes(
        audit(failures={"timeout": 2}, failure_messages={"timeout": "no reply\n  wait"})
    )
    at = said.index(("failed", "2 answers: no answer in time"))
    assert said[at + 1] == ("", "no reply; wait")


def test_kinds_of_attack_are_shown_that_do_something_and_all_of_them_when_asked() -> None:
    parts = (
        effect(0.5, name="polite"),
        effect(0.1, 0.4, name="rude", verdict="cannot_say"),
        effect(0.0, name="odd", verdict="none_seen"),
    )
    found = audit(probe("injection", effect(0.2), parts=parts))
    some = shown(lambda to: print_document(to, audit_document(found)), width=80)
    assert re.search(r"polite +\+0\.50 \[\+0\.45, \+0\.55\] +MATERIAL", some)
    assert "rude  " not in some
    assert "odd  " not in some
    said = " ".join(some.split())
    words = "3 kinds, with simultaneous intervals: 1 none seen, 1 MATERIAL, 1 inconclusive"
    assert words in said
    every = shown(lambda to: print_document(to, audit_document(found), verbose=True), width=80)
    assert re.search(r"odd +0\.00 \[-0\.05, \+0\.05\] +none seen", every)


def test_an_audit_as_json_has_its_verdicts_and_null_for_what_is_undefined() -> None:
    nothing = effect(
        0.0, estimate=undefined_estimate("none", n=0, method="t"), verdict="cannot_say"
    )
    made = audit(probe("a", effect(0.3)), probe("b", nothing))
    found: Any = document_data(audit_document(made))
    assert json.loads(json.dumps(found))["probes"][1]["effects"][0]["estimate"]["value"] is None
    assert [one["verdict"] for one in found["probes"]] == ["material", "cannot_say"]
    assert (found["material"], found["is_complete"]) == (["a"], True)


SELF = SelfTest(
    {
        "fair": {"a": "none_seen", "b": "none_seen"},
        "a": {"a": "material", "b": "none_seen"},
        "b": {"a": "cannot_say", "b": "material"},
    },
    {"a": 0.3, "b": -0.25},
    1200,
)


def test_a_self_test_shows_each_bias_with_what_its_probe_says() -> None:
    text = shown(lambda to: print_document(to, self_test_document(SELF)), width=80)
    sentence = "Every probe detects its own bias, and none reports one without cause"
    assert sentence in " ".join(text.split())
    lines = [line.split() for line in text.splitlines()]
    assert ["none", "–", "–", "none", "seen", "2"] in lines
    assert ["b", "MATERIAL", "-0.25", "inconclusive", "1"] in lines


def test_a_self_test_says_why_a_second_probe_sees_a_bias() -> None:
    names = ("mode", "criterion_order")
    both: Any = {judge: dict.fromkeys(names, "none_seen") | {judge: "material"} for judge in names}
    both["criterion_order"]["mode"] = "material"
    found = replace(SELF, verdicts=both, sizes=dict.fromkeys(names, 0.3))
    assert found.wrong == ()
    text = " ".join(shown(lambda to: print_document(to, self_test_document(found))).split())
    assert "mode is right to report criterion_order too: a call with one criterion has" in text
    assert "is right to report" not in shown(
        lambda to: print_document(to, self_test_document(SELF))
    )


def test_a_self_test_that_does_not_fit_says_where() -> None:
    wrong: Any = {**SELF.verdicts, "b": {"a": "material", "b": "small"}}
    found = replace(SELF, verdicts=wrong)
    text = shown(lambda to: print_document(to, self_test_document(found)))
    assert "b misses its own bias" in text
    assert "a reports a bias in b" in text
    as_json: Any = document_data(self_test_document(found))
    assert as_json["wrong"] == [["b", "a"], ["b", "b"]]


def test_a_self_test_tells_each_kind_of_attack_apart() -> None:
    found = replace(SELF, obeyed={"x": "material", "y": "small"}, resisted={"x": "material"})
    text = shown(lambda to: print_document(to, self_test_document(found)))
    assert "material for 1 of 2 that the judge obeys, and for 1 of 1 that it does not" in text
    assert "injection misses obeyed attacks of the kind y" in text
    assert "x reports a bias in fair" in text
