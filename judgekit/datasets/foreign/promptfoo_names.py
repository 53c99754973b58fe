"""The names of promptfoo's assertions: what each is read as, or what to do instead."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PLAIN = frozenset(
    {
        "equals", "contains", "icontains", "contains-all", "contains-any", "icontains-all",
        "icontains-any", "starts-with", "regex", "is-json", "contains-json",
        "is-html", "contains-html", "is-xml", "contains-xml", "is-sql", "contains-sql",
        "levenshtein", "rouge-n", "bleu", "meteor", "similar", "latency", "cost",
        "word-count", "finish-reason", "is-refusal", "tool-call-f1", "is-valid-openai-tools-call",
        "is-valid-openai-function-call", "is-valid-function-call",
    }
)  # fmt: skip
"""Assertions that need no model; they keep their names."""

GRADED: Mapping[str, str] = {
    "llm-rubric": "{value}",
    "agent-rubric": "{value}",
    "g-eval": "{value}",
    "model-graded-closedqa": "Does the output meet this: {value}",
    "factuality": "Does the output agree with these facts: {value}",
    "model-graded-factuality": "Does the output agree with these facts: {value}",
    "answer-relevance": "Does the output answer what was asked?",
    "context-faithfulness": "Is every statement of the output supported by the context?",
    "trajectory:goal-success": "Was this goal reached: {value}",
}
"""Assertions that ask a model, with the question of the criterion they become."""

SIMILAR = "similar"
"""The assertion that measures similarity; `similar:cosine` and the like are the same."""

DEFAULT_SIMILARITY = 0.75
"""How similar an output must be where the assertion does not say."""

CODE = frozenset({"javascript", "python", "ruby", "webhook"})
"""Assertions that run code, or send the output away."""

_CRITERION = "ask it as a criterion: write an `llm-rubric`"
_SERVICE = f"it asks a service of its own; {_CRITERION}"
_PERPLEXITY = "an answer's log-probabilities are not kept; leave it out"
_TRACE = "use `trajectory.no_tool_errors`, `trajectory.steps.max` or `metric.latency_ms.max`"

_INSTEAD: Mapping[str, str] = MappingProxyType(
    {
        "classifier": _SERVICE,
        "context-recall": "it judges what was retrieved, not the output; grade what your retriever "
        "returns as outputs of their own",
        "context-relevance": "it judges what was retrieved, not the output; grade what your "
        "retriever returns as outputs of their own",
        "conversation-relevance": _CRITERION,
        "gleu": "use `bleu`, or the assertion `chrf`",
        "guardrails": "check for what the guardrail lets through: `is-refusal`, `finish-reason`, "
        "or an `llm-rubric`",
        "human": "people judge with `judgekit label`; leave it out",
        "max-score": "variants are compared with `judgekit compare`; leave it out",
        "moderation": _SERVICE,
        "perplexity": _PERPLEXITY,
        "perplexity-score": _PERPLEXITY,
        "pi": _SERVICE,
        "search-rubric": f"no judge searches the web here; {_CRITERION}, and give the facts in it",
        "select-best": "variants are compared with `judgekit compare`; leave it out",
        "skill-used": "use `trajectory:tool-used` with the tool that loads the skill",
        "trace-error-spans": _TRACE,
        "trace-span-count": _TRACE,
        "trace-span-duration": _TRACE,
    }
)
_REDTEAM = ("promptfoo:redteam:", "redteam:")


def instead_of(name: str) -> str | None:
    """What to do about an assertion that is not read."""
    if name.startswith(_REDTEAM):
        return f"its attacks and graders are promptfoo's own; {_CRITERION}"
    return _INSTEAD.get(name)
