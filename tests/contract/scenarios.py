"""What is done at the command line: scenarios of some files and some commands, played in order.

A line is what stands after `judgekit`; of one that begins with `- ` only the exit code is pinned;
`COLUMNS=140 line` gives it a wider terminal, where a table would otherwise break an id;
`line <<< text` pipes the text into it, `|` being the end of a line.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.contract.checks_material import CHECKS, HUMAN, UNSOUND, WORKFLOW
from tests.contract.material import SUITE, Files, laboratory, rows

_LAB = laboratory()
_PAID = "--judge openai/gpt-4.1-mini"
_ONE = _LAB | {"judgekit.yaml": SUITE.replace("  - {id: c, outputs: outputs/c.jsonl}\n", "")}


@dataclass(frozen=True)
class Scenario:
    """Files, and the commands that are run beside them."""

    lines: tuple[str, ...]
    files: Files = field(default_factory=dict)
    is_cached: bool = False
    """Whether a paid judge's replies to the laboratory's variants `a` and `b` are in the cache."""


def _lab(*lines: str, more: Files | None = None, is_cached: bool = False) -> Scenario:
    return Scenario(lines, _LAB | (more or {}), is_cached)


_HALF = {"half.jsonl": "".join(_LAB["labels.jsonl"].splitlines(keepends=True)[:12])}
_GAP = {
    "gap.jsonl": "".join(
        line for line in _LAB["replies.jsonl"].splitlines(keepends=True) if '"q03"' not in line
    )
}
_OTHER = {"other.jsonl": _LAB["replies.jsonl"].replace("It is worth 4.", "Worth four.")}
_PREFERENCES = {
    "preferences.jsonl": rows(
        {"case_id": f"q{k}", "variant_a": a, "variant_b": b, "winner": w}
        for k, (a, b, w) in enumerate(
            [("x", "y", "a"), ("y", "z", "a"), ("x", "z", "a"), ("x", "y", "tie"), ("z", "y", "b")]
        )
    )
}

SCENARIOS: dict[str, Scenario] = {
    "init": Scenario(("init shop", "init shop", "init bot --template agent")),
    "init_used": Scenario(
        ("init .", "validate", "lint", "grade", "run -q", "compare v1 v2 -q", "plan", "audit -n 2")
    ),
    "demo": Scenario(("demo", "demo -n 4 -v", "demo -q", "demo --dry-run")),
    "usage": _lab(
        "--version",
        "nosuch",
        "run nosuch.yaml",
        "grade outputs/a.jsonl --rubric nosuch.yaml",
        "grade outputs/a.jsonl --rubric rubric.yaml",
        "show latest",
        "export latest -o x.csv",
        "cache ls --since yesterday",
        "compare a nosuch",
        "calibrate labels.jsonl",
        "rejudge latest --judge recorded:replies.jsonl",
    ),
    "validate": _lab(
        "validate",
        "validate judgekit.yaml rubric.yaml cases.jsonl outputs/a.jsonl replies.jsonl labels.jsonl",
        "validate cases_unsound.jsonl rubric_unsound.yaml suite_unsound.yaml labels_unsound.jsonl",
        "validate --strict vague.yaml",
        "validate .",
        more=UNSOUND,
    ),
    "lint": _lab(
        "lint",
        "lint vague.yaml",
        "lint vague.yaml --strict",
        "lint unfenced.j2",
        "lint pointwise/criterion pairwise/joint",
        more=UNSOUND,
    ),
    "lint_shipped": Scenario(("lint",)),
    "run": _lab(
        "run",
        "run --variant a --filter-tag odd -v",
        "run -n 3 -q -o results.jsonl",
        "- run --sample 2 --seed 7 -q",
        "run --dry-run",
        "- run --fail-under 0.5 -q",
        "run --require-calibration",
        "run -x --variant c -q",
        "- run --resume -q",
        f"run {_PAID} --max-cost 0.0000001 -q --max-concurrency 1",
        f"run {_PAID} --frozen -q --variant a",
    ),
    "run_incomplete": _lab(
        "run --judge recorded:gap.jsonl --variant a -q",
        "run --resume --retry-errors --judge recorded:gap.jsonl --variant a -q",
        more=_GAP,
    ),
    "run_checks": Scenario(
        ("run", "run -q", "show latest refund", "plan", "run workflow.json --outputs flow.jsonl"),
        CHECKS | WORKFLOW,
    ),
    "grade": _lab(
        "grade",
        "grade outputs/a.jsonl --rubric rubric.yaml --cases cases.jsonl "
        "--judge recorded:replies.jsonl --variant a -n 2 -v",
        "grade -q -o verdicts.jsonl -n 4",
        "grade -q -o verdicts.csv -n 4",
        "grade -q --filter-tag even --fail-under 0.9",
        "grade -q --require-calibration",
        "grade --dry-run",
        "grade --judge recorded:gap.jsonl -q",
        more=_GAP,
    ),
    "grade_cached": _lab(
        f"grade outputs/a.jsonl --cases cases.jsonl --frozen -q {_PAID}",
        f"grade --frozen -q {_PAID}",
        f"run --variant a --frozen -q {_PAID}",
        f"run --frozen -q {_PAID}",
        f"plan {_PAID}",
        f"plan suite.yaml {_PAID}",
        f"plan suite.yaml {_PAID} --max-cost 0.0001",
        more={
            "prompts/p.j2": "Help: {{ input }}",
            "suite.yaml": SUITE + "  - {id: d, prompt: prompts/p.j2, model: openai/gpt-4.1-nano}\n",
        },
        is_cached=True,
    ),
    "cache": _lab(
        "cache stats",
        "cache ls -n 2",
        "cache ls --contains q01",
        f"cache explain {_PAID}",
        f"cache explain outputs/a.jsonl --cases cases.jsonl {_PAID} --temperature 1",
        "cache explain 012ee9d0c4",
        "cache explain b834f579cf8e",
        "cache export out.jsonl",
        "cache verify",
        "cache prune --older-than 1d --dry-run",
        "cache prune --model openai/gpt-4.1-mini",
        "cache import out.jsonl",
        "cache merge out.jsonl",
        "cache clear --yes",
        "cache stats",
        "cache path",
        is_cached=True,
    ),
    "compare": _lab(
        "compare a b",
        "compare a b -n 2 -q",
        "compare a b --rule average -q -o comparison.json",
        "compare a b -q -o preferences.jsonl",
        "compare outputs/b.jsonl outputs/c.jsonl --cases cases.jsonl --dry-run",
        "compare a b --judge recorded:gap.jsonl -q",
        "compare a b --until-decided --max-cases 6 -q",
        "- run -q --variant a --variant b",
        "compare latest::a latest::b --scores",
        "compare latest::b latest::b --scores",
        "COLUMNS=160 show --comparisons",
        "show --comparisons -n 1 --rule average",
        more=_GAP,
    ),
    "rank": _lab(
        "rank a b c",
        "rank a b c -q --ties davidson -o comparisons.jsonl",
        "rank comparisons.jsonl -q",
        "rank preferences.jsonl -q",
        "rank a b c --pairs adaptive --top 2 -q",
        "rank a b c -n 1 -q --dry-run",
        more=_PREFERENCES,
    ),
    "calibrate": _lab(
        "- run -q",
        "calibrate labels.jsonl",
        "- calibrate half.jsonl -q",
        "- calibrate labels.jsonl --min-kappa 0.99 -q",
        "- calibrate labels.jsonl --require-stand-in -q",
        "- calibrate half.jsonl --require-stand-in -q",
        "- calibrate labels.jsonl --labels-are random --write-map map.json -q -o report.md",
        "run --calibration map.json --require-calibration -q",
        "calibrate labels.jsonl --outputs outputs/a.jsonl -q --judge recorded:replies.jsonl "
        "--rubric rubric.yaml --cases cases.jsonl --right within_one",
        more=_HALF,
    ),
    "audit": _lab(
        "audit outputs/a.jsonl --cases cases.jsonl --probes scale,stability --dry-run",
        "audit -n 4 --probes scale,stability,position,identical",
        "audit -n 4 --probes scale -q --fail-on material -o audit.md",
    ),
    "tune": _lab(
        "tune labels.jsonl --outputs outputs/a.jsonl --outputs outputs/b.jsonl "
        "--candidates other.yaml --dry-run",
        "tune labels.jsonl --outputs outputs/a.jsonl --outputs outputs/b.jsonl "
        "--candidates other.yaml -o better.yaml",
        "tune half.jsonl --outputs outputs/a.jsonl --candidates other.yaml -n 1",
        more=_HALF | {"other.yaml": _LAB["rubric.yaml"].replace("Does the answer", "Does it")},
    ),
    "rejudge": _lab(
        "- run -q --variant a",
        "rejudge latest --judge recorded:other.jsonl",
        "rejudge latest --judge recorded:gap.jsonl -q -o changes.json",
        "- grade outputs/b.jsonl -q -o verdicts.jsonl --cases cases.jsonl --variant b",
        "rejudge verdicts.jsonl outputs/b.jsonl --rubric rubric.yaml --cases cases.jsonl "
        "--judge recorded:other.jsonl -q",
        more=_OTHER | _GAP,
    ),
    "approve": _lab(
        "approve a --baseline b --because 'It is better.' --by Ann",
        "- compare a b -q",
        "- compare b c -n 2 -q",
        "approve a --baseline b --because 'It is better.' --by Ann",
        "approve b --baseline a --because 'I like it.' --by Ann",
        "approve b --baseline c --because 'Two cases.' --by Ann",
        "COLUMNS=160 approve --list",
    ),
    "show": Scenario(
        (
            "- run -q",
            "show",
            "show --figures",
            "show latest",
            "show latest q01",
            "show latest --failed --variant b",
            "show --case q01",
            "show --criterion brief -n 2",
            "show --rubric helpfulness",
            "show --agent nobody",
            "show latest nosuch",
            "show nosuch",
        ),
        _ONE,
    ),
    "label": Scenario(
        (
            "run -q",
            "label latest --import answers.jsonl",
            "label latest --annotator Ben <<< ?|s|7|u|q|",
            "label latest --export said.jsonl",
            "label latest --annotator Ben <<< 1|It says so.|0.9|",
            "show latest",
            "label latest --annotator Ben",
        ),
        HUMAN,
    ),
    "export": Scenario(
        (
            "- run -q",
            "export latest -o results.jsonl",
            "export latest -o results.csv",
            "export latest -o results.json --variant a --failed",
            "export latest -o junit.xml",
            "export latest -o grading.json --variant a --filter-tag odd",
            "export latest -o gradings --format grading --variant b",
            "export latest -o history.json",
            "export latest -o history.json",
            "export latest -o report.yaml",
            "export latest -o rows.csv --format strategies",
            "export latest -o memory.json --format quality --variant a --filter-tag even",
            "- compare a b -q",
            "export latest -o comparison.json --format comparison",
            "export latest -o preferences.jsonl --format preferences",
            "export latest -o analysis.json --format analysis",
            "export latest -o results.txt",
        ),
        _ONE,
    ),
    "data": Scenario(("data list", "data path llmbar", "data path nosuch")),
}
