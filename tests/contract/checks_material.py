"""Files of scenarios without a judge: checks, a person who judges, files that are unsound."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.contract.material import rows

if TYPE_CHECKING:
    from tests.contract.material import Files

CHECKS: Files = {
    "judgekit.yaml": """\
name: checks
judge: heuristic
cases:
  - {id: refund, input: "Can I return it?", reference: "Within 30 days.", stratum: simple}
  - {id: sale, input: "And a sale item?", reference: "It can be exchanged.", tags: [policy]}
  - id: hours
    input: When are you open?
    reference: From 9 to 18.
    assertions: [{type: contains, value: "9"}]
variants:
  - {id: good, outputs: good.jsonl}
  - {id: bad, outputs: bad.jsonl}
assertions:
  - {type: behavior.no_errors}
  - {type: metric.latency_ms.max, value: 1000}
  - {type: not-icontains, value: as an ai}
  - {type: any, assertions: [{type: regex, value: '\\d'}, {type: word-count, value: {max: 6}}]}
scorers:
  - {type: latency, max_ms: 2000}
  - {type: tokens, max_tokens: 100, weight: 2}
gate: {tier: production, max_drop: 0.1}
""",
    "good.jsonl": rows(
        {"case_id": case, "text": text, "duration_ms": 400, "usage": {"output_tokens": 20}}
        for case, text in (
            ("refund", "Within 30 days."),
            ("sale", "It can be exchanged."),
            ("hours", "From 9 to 18."),
        )
    ),
    "bad.jsonl": rows(
        [
            {"case_id": "refund", "text": "As an AI I cannot say.", "duration_ms": 1800},
            {"case_id": "sale", "error": "timed out"},
            {"case_id": "hours", "text": "We open.", "duration_ms": 600},
        ]
    ),
}

WORKFLOW: Files = {
    "workflow.json": json.dumps(
        {
            "id": "greeter.v2",
            "workflowName": "greeter",
            "version": "2.1.0",
            "cases": [
                {
                    "id": "hello",
                    "input": {"prompt": "Greet Ada"},
                    "assertions": [
                        {"type": "behavior.no_errors"},
                        {"type": "output.contains", "path": "outputs.main.text", "value": "Ada"},
                    ],
                }
            ],
        }
    ),
    "flow.jsonl": rows(
        [
            {
                "caseId": "hello",
                "runId": "run-7",
                "snapshot": {"outputs": {"main": {"text": "Hello Ada"}}},
                "events": [
                    {
                        "type": "agent:complete",
                        "nodeId": "main",
                        "durationMs": 700,
                        "totalCostUsd": 0.002,
                        "usage": {"inputTokens": 30, "outputTokens": 4},
                    }
                ],
            }
        ]
    ),
}

HUMAN: Files = {
    "judgekit.yaml": """\
name: person
cases:
  - {id: refund, input: "Can I return it?", reference: "Within 30 days."}
  - {id: sale, input: "And a sale item?", reference: "It can be exchanged."}
  - {id: hours, input: "When are you open?"}
rubric: rubric.yaml
judge: human
variants: [{id: v1, outputs: v1.jsonl}]
""",
    "rubric.yaml": """\
name: support
criteria: [{name: correct, question: Does it say what the reference says?, scale: binary}]
""",
    "v1.jsonl": rows(
        {"case_id": case, "text": f"About {case}."} for case in ("refund", "sale", "hours")
    ),
    "answers.jsonl": rows(
        {
            "case_id": case,
            "variant": "v1",
            "criterion": "correct",
            "annotator": "Ann",
            "raw": 0,
            "rationale": "It promises a return.",
        }
        for case in ("sale", "hours")
    ),
}

UNSOUND: Files = {
    "cases_unsound.jsonl": '{"id": "a", "input": "x"}\n{"id": "a", "input": "y"}\n{"inputt": 1}\n',
    "rubric_unsound.yaml": """\
name: broken
pass_threshold: 7
criteria:
  - {name: x, question: "Is it right?", scale: {min: 5, max: 1}}
""",
    "suite_unsound.yaml": """\
name: broken
dataset: nowhere.jsonl
rubrik: rubric.yaml
judge: {model: openai/gpt-4.1-mini, repeats: 0}
variants: [{id: v1, outputs: outputs/a.jsonl, http: {url: "https://agent.example"}}]
""",
    "labels_unsound.jsonl": '{"case_id": "q01", "raw": 3}\n{"case_id": "q02", "annotator": "A"}\n',
    "vague.yaml": """\
name: vague
criteria:
  - {name: good, question: Is it good and appropriate?, scale: {min: 1, max: 10}}
  - {name: nice, question: "Is it nice, and short, and polite?", scale: one_to_five}
""",
    "unfenced.j2": """\
{% block system %}Judge it.{% endblock %}
{% block user %}{{ output.text }} {{ criterion.question }}{% endblock %}
""",
}
