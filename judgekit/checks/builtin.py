"""The one table of built-in assertions and scorers, by the names people write in files."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from judgekit.registry import Entry, Registry, declared_entries

if TYPE_CHECKING:
    from collections.abc import Mapping

_ASSERTIONS = {
    "behavior": {
        "behavior.finish_reason": "finish_reason",
        "behavior.no_errors": "no_errors",
        "behavior.node_executed": "node_executed",
        "behavior.node_invocations.max": "node_invocations",
        "text.is_refusal": "is_refusal",
    },
    "budgets": {
        "metric.latency_ms.max": "latency_ms",
        "metric.tokens.input.max": "input_tokens",
        "metric.tokens.output.max": "output_tokens",
        "metric.tokens.total.max": "total_tokens",
        "metric.total_cost_usd.max": "total_cost_usd",
    },
    "counts": {
        "text.char_count": "char_count",
        "text.number": "number",
        "text.word_count": "word_count",
    },
    "matching": {
        "output.contains": "output_contains",
        "output.equals": "output_equals",
        "text.contains": "contains",
        "text.contains_all": "contains_all",
        "text.contains_any": "contains_any",
        "text.equals": "equals",
        "text.regex": "regex",
        "text.starts_with": "starts_with",
    },
    "nearness": {
        "text.bleu": "bleu",
        "text.chrf": "chrf",
        "text.levenshtein": "levenshtein",
        "text.meteor": "meteor",
        "text.rouge_l": "rouge_l",
        "text.rouge_n": "rouge_n",
    },
    "syntax": {
        "text.contains_html": "contains_html",
        "text.contains_json": "contains_json",
        "text.contains_sql": "contains_sql",
        "text.contains_xml": "contains_xml",
        "text.is_html": "is_html",
        "text.is_json": "is_json",
        "text.is_sql": "is_sql",
        "text.is_xml": "is_xml",
    },
    "tool_schemas": {"behavior.tool_calls_valid": "tool_calls_valid"},
    "trajectory": {
        "trajectory.arguments_match": "arguments_match",
        "trajectory.f1": "f1",
        "trajectory.matches": "matches",
        "trajectory.precision": "precision",
        "trajectory.recall": "recall",
        "trajectory.tool_never_used": "tool_never_used",
        "trajectory.tool_used": "tool_used",
    },
    "trajectory_limits": {
        "trajectory.no_loop": "no_loop",
        "trajectory.no_tool_errors": "no_tool_errors",
        "trajectory.node_executed": "node_executed",
        "trajectory.node_invocations.max": "max_node_invocations",
        "trajectory.recovers": "recovers",
        "trajectory.steps.max": "max_steps",
        "trajectory.tool_calls.max": "max_tool_calls",
    },
}
_SCORERS = {
    "cost": "cost",
    "judge": "judge",
    "latency": "latency",
    "similarity": "similarity",
    "tokens": "tokens",
}

GROUPS: Mapping[str, str] = MappingProxyType(
    {"all": "all", "any": "any", "none": "none", "assert-set": "all"}
)
"""The names of groups, each with its rule: `all`, `any` or `none` of the members must pass."""


@dataclass(frozen=True, slots=True)
class Synonym:
    """Another name of an assertion."""

    name: str
    """The assertion's own name."""

    renamed: Mapping[str, str] = field(default_factory=dict)
    """Other names of its parameters, with their own."""

    fixed: Mapping[str, object] = field(default_factory=dict)
    """Parameters that the name sets."""


_AT_MOST = {"threshold": "value"}
_FOLDED = MappingProxyType({"ignore_case": True})

SYNONYMS: Mapping[str, Synonym] = MappingProxyType({
    "char-count": Synonym("text.char_count"),
    "bleu": Synonym("text.bleu"),
    "chrf": Synonym("text.chrf"),
    "contains": Synonym("text.contains"),
    "contains-all": Synonym("text.contains_all"),
    "contains-any": Synonym("text.contains_any"),
    "contains-html": Synonym("text.contains_html"),
    "contains-json": Synonym("text.contains_json", {"value": "schema"}),
    "contains-sql": Synonym("text.contains_sql"),
    "contains-xml": Synonym("text.contains_xml", {"value": "required_elements"}),
    "cost": Synonym("metric.total_cost_usd.max", _AT_MOST),
    "equals": Synonym("text.equals"),
    "finish-reason": Synonym("behavior.finish_reason"),
    "icontains": Synonym("text.contains", fixed=_FOLDED),
    "icontains-all": Synonym("text.contains_all", fixed=_FOLDED),
    "icontains-any": Synonym("text.contains_any", fixed=_FOLDED),
    "is-html": Synonym("text.is_html"),
    "is-json": Synonym("text.is_json", {"value": "schema"}),
    "is-refusal": Synonym("text.is_refusal"),
    "is-sql": Synonym("text.is_sql"),
    "is-valid-function-call": Synonym("behavior.tool_calls_valid", {"value": "tools"}),
    "is-valid-openai-function-call": Synonym("behavior.tool_calls_valid", {"value": "tools"}),
    "is-valid-openai-tools-call": Synonym("behavior.tool_calls_valid", {"value": "tools"}),
    "is-valid-tool-call": Synonym("behavior.tool_calls_valid", {"value": "tools"}),
    "is-xml": Synonym("text.is_xml", {"value": "required_elements"}),
    "json_schema": Synonym("text.is_json", {"value": "schema"}),
    "latency": Synonym("metric.latency_ms.max", _AT_MOST),
    "levenshtein": Synonym("text.levenshtein"),
    "meteor": Synonym("text.meteor"),
    "numeric": Synonym("text.number"),
    "regex": Synonym("text.regex"),
    "rouge-l": Synonym("text.rouge_l"),
    "rouge-n": Synonym("text.rouge_n"),
    "similar:cosine": Synonym("similar"),
    "starts-with": Synonym("text.starts_with"),
    "tool-call-f1": Synonym("trajectory.f1", {"value": "calls"}),
    "tokens": Synonym("metric.tokens.total.max", _AT_MOST),
    "word-count": Synonym("text.word_count"),
})  # fmt: skip
"""The names promptfoo's users know, and other short ones, with the assertions' own."""

EXTRAS: Mapping[str, tuple[str, str]] = MappingProxyType({"text.meteor": ("nltk", "meteor")})
"""Assertions that need an optional package: what is imported, and the extra it comes with."""

_ASK_A_JUDGE = "that asks a model: put it into the rubric as a criterion"
_OWN_CODE = "code runs as a custom check, where scripts are allowed"
_COMPARED = "compare the variants: judgekit compare"
_RETRIEVAL = "that judges what was retrieved: grade what your retriever returns, with a rubric"
_LOG_PROBABILITIES = "the log-probabilities of the system under test are not kept"
_TRACE = "use `trajectory.no_tool_errors`, `trajectory.steps.max` or `metric.latency_ms.max`"

ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "agent-rubric": _ASK_A_JUDGE,
        "answer-relevance": _ASK_A_JUDGE,
        "classifier": _ASK_A_JUDGE,
        "context-faithfulness": _ASK_A_JUDGE,
        "context-recall": _RETRIEVAL,
        "context-relevance": _RETRIEVAL,
        "conversation-relevance": _ASK_A_JUDGE,
        "factuality": _ASK_A_JUDGE,
        "g-eval": _ASK_A_JUDGE,
        "gleu": "use `bleu` or `chrf`",
        "guardrails": "check what the guardrail lets through: `is-refusal`, `finish-reason`, or a "
        "criterion",
        "human": "people judge with judgekit label",
        "javascript": _OWN_CODE,
        "llm-rubric": _ASK_A_JUDGE,
        "max-score": _COMPARED,
        "model-graded-closedqa": _ASK_A_JUDGE,
        "model-graded-factuality": _ASK_A_JUDGE,
        "moderation": _ASK_A_JUDGE,
        "perplexity": _LOG_PROBABILITIES,
        "perplexity-score": _LOG_PROBABILITIES,
        "pi": _ASK_A_JUDGE,
        "python": _OWN_CODE,
        "ruby": _OWN_CODE,
        "search-rubric": _ASK_A_JUDGE,
        "select-best": _COMPARED,
        "similar": "a suite measures it; elsewhere use the scorer `similarity`",
        "skill-used": "use `trajectory.tool_used` with the tool that loads the skill",
        "trace-error-spans": _TRACE,
        "trace-span-count": _TRACE,
        "trace-span-duration": _TRACE,
        "trajectory:goal-success": _ASK_A_JUDGE,
        "trajectory:step-count": "use `trajectory.steps.max` or `trajectory.tool_calls.max`",
        "trajectory:tool-args-match": "use `trajectory.arguments_match`",
        "trajectory:tool-sequence": "use `trajectory.matches`",
        "trajectory:tool-used": "use `trajectory.tool_used`",
        "webhook": "an assertion calls nobody: write one, or use a custom check",
    }
)
"""Names people may look for in vain, with what there is instead."""


@cache
def assertion_registry() -> Registry:
    """The built-in assertions, and those of installed packages."""
    entries = [
        Entry(name, f"judgekit.checks.{module}:{attribute}")
        for module, names in _ASSERTIONS.items()
        for name, attribute in names.items()
    ]
    return Registry("assertion", entries, strangers=lambda: declared_entries("judgekit.assertions"))


@cache
def scorer_registry() -> Registry:
    """The built-in scorers, and those of installed packages."""
    entries = [
        Entry(name, f"judgekit.checks.scorers.{module}:{name}") for name, module in _SCORERS.items()
    ]
    return Registry("scorer", entries, strangers=lambda: declared_entries("judgekit.scorers"))
