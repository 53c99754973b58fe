"""The names of promptfoo's assertions, settings and providers, and what each becomes here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeGuard

from judgekit.formats.problems import FieldFault, json_kind, threshold_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping

    from pydantic import JsonValue

    from judgekit.formats.foreign_file import ForeignFile
    from judgekit.formats.text import KeyPath
    from judgekit.records import JsonObject

PROMPTFOO_SIMILAR = "similar"
"""The assertion that measures similarity; `similar:cosine` and the like are the same."""

PROMPTFOO_SIMILARITY = 0.75  # the default threshold of similarity


@dataclass(frozen=True, slots=True)
class Synonym:
    """Another name of an assertion, with other names of its parameters and those that it sets."""

    name: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, object] = field(default_factory=dict)


_AT_MOST = {"threshold": "value"}
_FOLDED = MappingProxyType({"ignore_case": True})

_TOOL_CALLS = (
    "is-valid-function-call",
    "is-valid-openai-function-call",
    "is-valid-openai-tools-call",
)

# The assertions themselves lie in a layer above, so this table names them by their texts.
PROMPTFOO_SYNONYMS: Mapping[str, Synonym] = MappingProxyType({
    **{name: Synonym(f"text.{name.replace('-', '_')}") for name in (
        "bleu", "contains", "contains-all", "contains-any", "contains-html", "contains-sql",
        "equals", "gleu", "is-html", "is-refusal", "is-sql", "levenshtein", "meteor", "regex",
        "rouge-n", "starts-with", "word-count",
    )},
    **{f"i{name}": Synonym(f"text.{name.replace('-', '_')}", fixed=_FOLDED) for name in (
        "contains", "contains-all", "contains-any",
    )},
    **dict.fromkeys(_TOOL_CALLS, Synonym("behavior.tool_calls_valid", {"value": "tools"})),
    "contains-json": Synonym("text.contains_json", {"value": "schema"}),
    "contains-xml": Synonym("text.contains_xml", {"value": "required_elements"}),
    "cost": Synonym("metric.total_cost_usd.max", _AT_MOST),
    "finish-reason": Synonym("behavior.finish_reason"),
    "is-json": Synonym("text.is_json", {"value": "schema"}),
    "is-xml": Synonym("text.is_xml", {"value": "required_elements"}),
    "latency": Synonym("metric.latency_ms.max", _AT_MOST),
    "max-score": Synonym("variants.highest_score"),
    "select-best": Synonym("variants.best"),
    "tool-call-f1": Synonym("trajectory.f1", {"value": "calls"}, {"distinct": True}),
})  # fmt: skip
"""promptfoo's assertions that need no model, with judgekit's own names."""

COMPARING_ASSERTIONS = frozenset({"max-score", "select-best"})
"""Assertions that one output of a test passes and the others fail."""

MODEL_FREE_ASSERTIONS = frozenset({*PROMPTFOO_SYNONYMS, PROMPTFOO_SIMILAR}) - COMPARING_ASSERTIONS

_FACTS = "Does the output agree with these facts: {value}"
MODEL_GRADED_ASSERTIONS: Mapping[str, str] = {
    **dict.fromkeys(("llm-rubric", "agent-rubric", "g-eval"), "{value}"),
    **dict.fromkeys(("factuality", "model-graded-factuality"), _FACTS),
    "model-graded-closedqa": "Does the output meet this: {value}",
    "answer-relevance": "Does the output answer what was asked?",
    "context-recall": "Does the context support all of this: {value}",
    "context-relevance": "Is the context about what was asked, without much that is not needed?",
    "conversation-relevance": "Does the output fit the conversation before it?",
    "context-faithfulness": "Is every statement of the output supported by the context?",
    "trajectory:goal-success": "Was this goal reached: {value}",
}  # assertions that ask a model, with the question of the criterion they become

# The metric that is called `bleu` here cuts words and smooths in another way.
OWN_TYPES = {"bleu": "text.word_bleu", "javascript": "custom.code", "python": "custom.code"}

_DIALECTS = ("athena", "bigquery", "hive", "mysql", "redshift", "snowflake", "sqlite", "trino")
SQL_DIALECTS: Mapping[str, str] = {name: name for name in _DIALECTS} | {
    "mariadb": "mysql",
    "postgresql": "postgres",
    "transactsql": "tsql",
}

CODE_ASSERTIONS = frozenset({"javascript", "python", "ruby", "webhook"})
"""Assertions that run code, or send the output away."""

_ASK_A_JUDGE = "that asks a model: put it into the rubric as a criterion"
_OWN_CODE = "code runs as a custom check, where scripts are allowed"
_LOG_PROBABILITIES = "the log-probabilities of the system under test are not kept"
_TRACE = "use `trajectory.no_tool_errors`, `trajectory.steps.max` or `metric.latency_ms.max`"

PROMPTFOO_ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(MODEL_GRADED_ASSERTIONS, _ASK_A_JUDGE),
        **dict.fromkeys(("classifier", "moderation", "pi", "search-rubric"), _ASK_A_JUDGE),
        "guardrails": "check what the guardrail lets through: `is-refusal`, `finish-reason`, or a "
        "criterion",
        "human": "annotators judge with judgekit label",
        **dict.fromkeys(("javascript", "python", "ruby"), _OWN_CODE),
        **dict.fromkeys(("perplexity", "perplexity-score"), _LOG_PROBABILITIES),
        "skill-used": "use `trajectory.tool_used` with the tool that loads the skill",
        **dict.fromkeys(("trace-error-spans", "trace-span-count", "trace-span-duration"), _TRACE),
        "trajectory:step-count": "use `trajectory.steps.max` or `trajectory.tool_calls.max`",
        "trajectory:tool-args-match": "use `trajectory.arguments_match`",
        "trajectory:tool-sequence": "use `trajectory.matches`",
        "trajectory:tool-used": "use `trajectory.tool_used`",
        "webhook": "an assertion calls nobody: write one, or use a custom check",
    }
)  # promptfoo's assertions without a counterpart of the same name, with what there is instead

# Plugins of the red team generate attacks with promptfoo's own service.
_REDTEAM = ("promptfoo:redteam:", "redteam:")

READ_FIELDS = frozenset({
    "$schema", "description", "tests", "scenarios", "defaultTest", "assertionTemplates",
    "prompts", "providers", "targets",
})  # fmt: skip
"""Fields of a configuration that are read, or that say nothing about its tests."""

NO_COUNTERPART = "it has no counterpart here"
NO_CODE = "code is never run from a file of data"
WRITE_IT = (
    "write what it checks as `contains`, `regex`, `is-json` or an `llm-rubric`, or name a script "
    "of your own with `--allow-scripts`"
)
UNREAD_FIELDS: Mapping[str, tuple[str, str | None]] = {
    **dict.fromkeys(("extensions", "nunjucksFilters"), (NO_CODE, None)),
    "evaluateOptions": (
        "how a run goes is decided by the suite",
        "see `repeats` and `max_concurrency`",
    ),
}
"""Fields of a configuration that are not read: the reason, and what to do instead."""

READ_TEST_FIELDS = frozenset({"vars", "assert", "description", "threshold", "metadata", "options"})
# By which a test is for some variants.
CHOOSING_FIELDS = frozenset({"provider", "providers", "prompts"})
TRANSFORMS = ("transform", "postprocess")
READ_OPTIONS = frozenset({"disableVarExpansion", "disableDefaultAsserts", "provider", *TRANSFORMS})
CODE_SETTINGS = frozenset({"transform", "postprocess", "transformVars", "assertScoringFunction"})
"""Settings of a test that run code on its outputs, its variables or its scores."""

# promptfoo's providers with litellm's names of them, which mostly are the same.
_PROVIDERS = dict.fromkeys([
    "ai21", "anthropic", "azure", "bedrock", "cerebras", "cometapi", "dashscope",
    "databricks", "deepinfra", "deepseek", "github", "groq", "helicone", "huggingface",
    "hyperbolic", "minimax", "mistral", "moonshot", "nebius", "novita", "nscale", "ollama",
    "openai", "openrouter", "perplexity", "replicate", "sagemaker", "sambanova", "snowflake",
    "watsonx", "xai",
]) | {
    "aimlapi": "aiml", "alibaba": "dashscope", "azureopenai": "azure", "cloudflare-ai":
    "cloudflare", "cohere": "cohere_chat", "docker": "docker_model_runner", "fireworks":
    "fireworks_ai", "google": "gemini", "lambdalabs": "lambda_ai", "litellm": "", "llamaapi":
    "meta_llama", "palm": "gemini", "togetherai": "together_ai", "vertex": "vertex_ai", "vercel":
    "vercel_ai_gateway", "vllm": "hosted_vllm",
}  # fmt: skip
# Between the provider and the model, with what litellm says instead.
_KINDS = {
    "ollama:chat": "ollama_chat", "bedrock:converse": "bedrock/converse",
    "openai:completion": "text-completion-openai",
}  # fmt: skip
_CHAT = frozenset({"chat", "completion", "messages", "responses", "text-generation"})
# What makes no text, or is an agent of a provider.
_NO_TEXT = frozenset({
    "agent", "agents", "assistant", "chatkit", "claude-agent-sdk", "claude-code", "codex-sdk",
    "embedding", "embeddings", "feature-extraction", "image", "image-gen", "kb", "live",
    "moderation", "nova-sonic", "realtime", "sentence-similarity", "speech",
    "text-classification", "token-classification", "transcription", "tts", "video",
    "workflow",
})  # fmt: skip


def litellm_name(provider: str) -> str | None:
    """The model of a provider under litellm's name; None where there is none."""
    head, _, rest = provider.partition(":")
    kind, _, model = rest.partition(":")
    if provider == "echo":
        return provider
    if head not in _PROVIDERS or not rest or "{{" in provider or kind in _NO_TEXT:
        return None
    own = _PROVIDERS[head]
    prefix = _KINDS.get(f"{head}:{kind}", head if own is None else own)
    model = model if kind in _CHAT or f"{head}:{kind}" in _KINDS else rest
    return f"{prefix}/{model}".removeprefix("/") if model else None


def unused_name(name: str, names: Container[JsonValue], sign: str = "-") -> str:
    """The name, with a number where it is in use already."""
    number, unused = 1, name
    while unused in names:
        number += 1
        unused = f"{name}{sign}{number}"
    return unused


def replacement_hint(name: str) -> str | None:
    """The hint for an assertion of promptfoo that is not read; None for a misspelt name."""
    if name.startswith(_REDTEAM):
        return "its attacks and graders are promptfoo's own; write an `llm-rubric`"
    return PROMPTFOO_ELSEWHERE.get(name)


@dataclass(slots=True)
class PromptfooChecks:
    """The checks of one test."""

    assertions: list[JsonObject] = field(default_factory=list)  # those that need no model
    places: list[KeyPath] = field(default_factory=list)
    # The others, as the fields of a `Criterion`.
    criteria: list[JsonValue] = field(default_factory=list)
    reference: str | None = None  # the first good answer that one of them names
    # The thresholds of the assertions on similarity to one text.
    similarities: list[float] = field(default_factory=list)
    # Those that compare the outputs of all variants; no group holds them.
    choices: list[tuple[KeyPath, JsonObject]] = field(default_factory=list)

    def add(self, spec: JsonObject, at: KeyPath) -> None:
        self.assertions.append(spec)
        self.places.append(at)

    def group(self, settings: JsonObject, at: KeyPath) -> None:
        """Let the assertions be one group, which decides as a whole."""
        self.assertions = [{"type": "all", "assertions": [*self.assertions], **settings}]
        self.places, self.similarities = [at], []


def is_threshold(
    value: JsonValue, at: KeyPath, reading: ForeignFile, *, case_id: str | None = None
) -> TypeGuard[float]:
    """Whether a `threshold` is on [0, 1]; any other is reported."""
    fault = threshold_fault(("threshold",), value, ())
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        fault = FieldFault((), f"`threshold` must be a number from 0 to 1, not {json_kind(value)}")
    if fault is not None:
        reading.add((*at, "threshold"), fault.message, fault.remedy, case_id=case_id)
    return fault is None


def weigh_assertions(
    checks: PromptfooChecks, threshold: float | None, at: KeyPath, reading: ForeignFile
) -> None:
    """Group the assertions of a test where it has a threshold, or where some weigh nothing."""
    place: KeyPath = (*at, "assert")
    weightless = [spec.get("weight") == 0 for spec in checks.assertions]
    if threshold is None and weightless and all(weightless):
        message = "every assertion has the weight 0, so the test cannot fail by them"
        reading.warn(place, message, "raise a weight")
        checks.assertions = [{**spec, "weight": 1} for spec in checks.assertions]
        checks.group({"threshold": 0, "scored": True}, place)
    elif threshold is None and any(weightless):
        checks.group({}, place)  # in which a weight of 0 decides nothing
    elif threshold is not None and checks.criteria and checks.assertions:
        message = "the `threshold` applies to the criteria; every other assertion must pass"
        reading.warn((*at, "threshold"), message, "write a test for the other assertions")
    elif threshold is not None and not all(weightless):
        checks.group({"threshold": threshold, "scored": True}, place)


def share_weight(criteria: list[JsonValue], whole: JsonValue) -> None:
    """Let the criteria of a set weigh together what the set does."""
    own = [one for one in criteria if isinstance(one, dict)]
    weights = [one.get("weight", 1) for one in own]
    numbers = [n for n in (*weights, 1 if whole is None else whole) if isinstance(n, int | float)]
    if len(numbers) == len(own) + 1 and (total := sum(numbers[:-1])) > 0:
        for one, weight in zip(own, numbers, strict=False):
            one["weight"] = numbers[-1] * weight / total


def choice_specs(
    checks: PromptfooChecks, reading: ForeignFile
) -> Iterator[tuple[KeyPath, JsonObject]]:
    """The assertions that compare outputs; their weights are by the names that types have here."""
    is_grouped = any(spec.get("type") == "all" for spec in checks.assertions)
    for at, spec in checks.choices:
        weights = spec.get("weights")
        if not isinstance(weights, dict):
            yield at, spec
            continue
        own = {OWN_TYPES.get(name, name): weight for name, weight in weights.items()}
        if is_grouped or len(own) < len(weights):
            reason = "its `weights` name assertions that are one here"
            yield at, reading.not_imported(str(spec["type"]), at, reason, "leave out the `weights`")
        else:
            yield at, {**spec, "weights": own}


_PREFIX = "trajectory:"
_ARGUMENTS = "trajectory:tool-args-match"
_NOT = "not-"
_NAMED = "name the tools, such as `value: [search, fetch]`"


class UnsupportedAssertionError(ValueError):
    """An assertion on a trajectory without a counterpart; the text says what to do."""


def trajectory_spec(name: str, value: JsonValue) -> JsonObject:
    """The assertion on a trace with the same meaning."""
    plain = name.removeprefix(_NOT)
    spec = _READERS[plain](value)
    if not name.startswith(_NOT):
        return spec
    if spec["type"] == "all":
        raise UnsupportedAssertionError(f"write one `{name}` for each tool")
    if plain == _ARGUMENTS:  # in promptfoo a tool that was not called has no such arguments
        return {"type": "none", "assertions": [spec]}
    return {**spec, "type": f"{_NOT}{spec['type']}"}


def _tool_used(value: JsonValue) -> JsonObject:
    if isinstance(value, list):
        members: list[JsonValue] = [_tool_used(item) for item in value]
        if not members:
            raise UnsupportedAssertionError(_NAMED)
        return {"type": "all", "assertions": members}
    if isinstance(value, str):
        value = {"name": value}
    fields = _fields(value, {"name", "min", "max"}, _NAMED)
    spec: JsonObject = {"type": "trajectory.tool_used", "tool": _name(fields)}
    for theirs, own in (("min", "at_least"), ("max", "at_most")):
        if theirs in fields:
            spec[own] = fields[theirs]
    return spec


def _arguments(value: JsonValue) -> JsonObject:
    usage = "give `{name: …, args: {…}, mode: partial}`"
    fields = _fields(value, {"name", "args", "arguments", "mode"}, usage)
    wanted = fields.get("args", fields.get("arguments", {}))
    call: JsonObject = {"tool": _name(fields), "arguments": wanted}
    mode = {"partial": "superset", "exact": "exact"}.get(str(fields.get("mode", "partial")))
    if mode is None:
        raise UnsupportedAssertionError("`mode` must be `partial` or `exact`")
    # In objects within the arguments others are allowed beside those, too.
    if mode == "superset" and isinstance(wanted, dict) and '{"' in json.dumps([*wanted.values()]):
        call = {"tool": call["tool"], "where": dict(_parts(wanted, usage))}
    return {"type": "trajectory.arguments_match", "call": call, "mode": mode}


def _parts(wanted: JsonObject, usage: str, within: str = "") -> Iterator[tuple[str, JsonValue]]:
    for name, part in wanted.items():
        quoted = name.replace("\\", r"\\").replace('"', r"\"")
        path = f'{within}."{quoted}"'.removeprefix(".")
        if isinstance(part, dict) and part:
            yield from _parts(part, usage, path)
        elif '{"' in json.dumps(part):
            raise UnsupportedAssertionError(f"`{name[:40]}` has objects in a list; {usage}")
        else:
            yield path, {"exists": True} if part == {} else {"one_of": [part]}


def _sequence(value: JsonValue) -> JsonObject:
    fields = {"steps": value} if isinstance(value, list) else _fields(value, {"steps", "mode"}, "")
    steps = fields.get("steps")
    if not isinstance(steps, list) or not steps:
        raise UnsupportedAssertionError(_NAMED)
    mode = {"in_order": "in_order", "exact": "strict"}.get(str(fields.get("mode", "in_order")))
    if mode is None:
        raise UnsupportedAssertionError("`mode` must be `in_order` or `exact`")
    calls: list[JsonValue] = [
        {"tool": _name({"name": s} if isinstance(s, str) else _fields(s, {"name"}, _NAMED))}
        for s in steps
    ]
    return {"type": "trajectory.matches", "calls": calls, "mode": mode, "arguments": "ignore"}


def _step_count(value: JsonValue) -> JsonObject:
    usage = "count the calls of tools: `{type: tool, max: 5}`"
    fields = _fields(value, {"type", "pattern", "min", "max"}, usage)
    tool = fields.get("pattern")
    is_plain = tool is None or (isinstance(tool, str) and not set(tool) & set("*?["))
    if fields.get("type") != "tool" or "min" in fields or not is_plain or "max" not in fields:
        raise UnsupportedAssertionError(usage)
    spec: JsonObject = {"type": "trajectory.tool_calls.max", "value": fields["max"]}
    return spec if tool is None else {**spec, "tool": tool}


def _fields(value: JsonValue, known: set[str], usage: str) -> JsonObject:
    if not isinstance(value, dict):
        raise UnsupportedAssertionError(usage or _NAMED)
    if unknown := sorted(value.keys() - known):
        raise UnsupportedAssertionError(f"`{unknown[0]}` is not read here; {usage or _NAMED}")
    return value


def _name(fields: JsonObject) -> str:
    name = fields.get("name")
    if not isinstance(name, str) or not name.strip():
        raise UnsupportedAssertionError(_NAMED)
    if set(name) & set("*?"):  # for promptfoo each name is a pattern
        raise UnsupportedAssertionError(f"the pattern {name[:40]!r} is not read here; {_NAMED}")
    return name


_READERS: Mapping[str, Callable[[JsonValue], JsonObject]] = {
    f"{_PREFIX}tool-used": _tool_used,
    _ARGUMENTS: _arguments,
    f"{_PREFIX}tool-sequence": _sequence,
    f"{_PREFIX}step-count": _step_count,
}

TRAJECTORY_ASSERTIONS = frozenset(_READERS)
"""The assertions on an agent's actions that need no model."""

KNOWN_ASSERTIONS = MODEL_FREE_ASSERTIONS | CODE_ASSERTIONS | TRAJECTORY_ASSERTIONS
KNOWN_ASSERTIONS |= COMPARING_ASSERTIONS | MODEL_GRADED_ASSERTIONS.keys()
