"""Reads promptfoo's prompts and providers as variants: one for each prompt of each provider."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from judgekit.errors import DatasetError
from judgekit.formats.attachments import AttachmentError
from judgekit.formats.documents import parse_document, read_document
from judgekit.formats.foreign_file import NEEDS_SCRIPTS, map_texts
from judgekit.formats.problems import json_kind, suggest_name
from judgekit.formats.promptfoo_files import FILE, ConfigFiles, code_call, code_path
from judgekit.formats.promptfoo_syntax import UntranslatedError, as_jinja, as_steps
from judgekit.formats.promptfoo_vocabulary import (
    CHOOSING_FIELDS,
    NO_CODE,
    NO_COUNTERPART,
    litellm_name,
    unused_name,
)
from judgekit.formats.rows import iter_rows, suffix_of
from judgekit.formats.text import as_mapping, one_or_several, read_text
from judgekit.records import JsonObject, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator

    from pydantic import JsonValue

    from judgekit.formats.foreign_file import ForeignFile
    from judgekit.formats.text import KeyPath


_T = TypeVar("_T")


class PromptfooRun(Record):
    """What a configuration says of how its cases are run."""

    variants: tuple[JsonObject, ...] = ()  # fields of a suite's variants
    judges: tuple[JsonObject, ...] = ()  # those of its judges


_PARAMETERS = frozenset({
    "temperature", "top_p", "top_k", "min_p", "max_tokens", "max_completion_tokens", "seed",
    "n", "stop", "presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias",
    "response_format", "tools", "tool_choice", "verbosity", "parallel_tool_calls",
    "reasoning_effort", "thinking", "service_tier", "logprobs", "top_logprobs",
})  # fmt: skip
_RENAMED = {
    "maxTokens": "max_tokens", "max_new_tokens": "max_tokens", "maxOutputTokens": "max_tokens",
    "max_output_tokens": "max_tokens", "num_predict": "max_tokens", "topP": "top_p",
    "topK": "top_k", "stopSequences": "stop", "stop_sequences": "stop", "toolChoice": "tool_choice",
}  # fmt: skip
_JUDGE_SETTINGS = frozenset({"temperature", "seed", "max_tokens"})
# Objects in which some providers have their parameters.
_NESTED = frozenset({"generationConfig", "inferenceConfig", "passthrough"})
_BASES = frozenset({"apiBaseUrl", "api_base", "baseURL", "base_url", "apiHost"})
_KEYS = re.compile(r"(?i)key|token$|secret|password|organi[sz]ation|credential|auth|cookie")
_HTTP_FIELDS = frozenset({
    "url", "method", "headers", "body", "transformResponse", "responseParser",
})  # fmt: skip
_ROLES = frozenset({"system", "user", "assistant", "developer"})

_OWN_PROVIDER = "add a variant with `command:`, `python:` or `http:` to a suite"
_OWN_PROMPT = "write it as a Jinja template in a suite"
_KEY_REMEDY = "keys come from the environment; see judgekit doctor"

_IS_HTTP = re.compile(r"https?(?:://|$)")
_RESPONSE = re.compile(r"^\s*(?:\([^()]*\)\s*=>)?\s*(json|text)\b")
_READ_REPLY = """\
const text = output; let json = null;
try { json = JSON.parse(output); } catch {}
const made = (%s
);
return typeof made === "function" ? made(json, text) : made;"""
_PROMPT = re.compile(r"\{\{\s*variables\.prompt(?:\|default\(\"\"\))?\s*\}\}")
_ENV = re.compile(r"\{\{\s*env\.(\w+)\s*\}\}")
_SEPARATOR = re.compile(r"^[ \t]*---[ \t]*$", re.MULTILINE)
_LOOKS_LIKE_FILE = re.compile(r"[\w./*~-]+\.(?:txt|md|jsonl?|ya?ml|csv|j2|njk|js|ts|py)")
_DUMPED = re.compile(r"(?<=[:\[,\s])\{\{-?([^{}|]*)\|\s*dump\s*-?\}\}")
_IMAGE = re.compile(r"(?:data:image/[\w.+-]+;base64,)?\{\{-?\s*(\w+)\s*-?\}\}")
_LONGEST_LABEL = 60
_CODE, _USER, _END = "code:", "{% block user %}", "{% endblock %}"


@dataclass(frozen=True, slots=True)
class _Prompt:
    text: str  # as a suite has it, in Jinja; empty where it cannot be sent
    name: str
    labels: frozenset[str]  # by what a provider or a test may name it
    config: JsonObject
    lost: str | None  # why it cannot be sent


@dataclass(frozen=True, slots=True)
class _Provider:
    at: KeyPath
    id: str
    fields: JsonObject
    lost: str | None = None  # why it is not known

    @property
    def config(self) -> JsonObject:
        return as_mapping(self.fields.get("config"))


@dataclass(slots=True)
class VariantReader:
    """Reads the prompts and providers of a configuration, and the models that grade."""

    reading: ForeignFile
    files: ConfigFiles
    certain: frozenset[str] = frozenset()  # the variables that every case has
    all_names: frozenset[str] = frozenset()
    images: frozenset[str] = frozenset()  # the variables that are an image in every case
    values: Container[str] = ()  # the variables that are no text in some case
    # Of each variant the names of its provider and of its prompt, by which tests choose.
    _made: dict[str, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)
    _variants: dict[str, JsonObject] = field(default_factory=dict)
    configured: tuple[str, ...] = ()  # of them, those of the configuration's own providers
    _prompts: list[_Prompt] = field(default_factory=list)
    # The variants of the systems under test that tests have of their own, by their settings.
    _of_tests: dict[str, list[str]] = field(default_factory=dict)
    # The graders that assertions or tests have of their own, by the names of these judges.
    _judges: dict[str, JsonObject] = field(default_factory=dict)

    def read(self, fields: JsonObject) -> None:
        self._prompts = list(self._read_prompts(fields.get("prompts")))
        key = "providers" if fields.get("providers") else "targets"
        providers = list(self._providers(fields.get(key), (key,)))
        if not providers and fields.get("prompts"):
            message = "no provider is named for the prompts"
            reason = self._lose(("prompts",), message, "name one in `providers`")
            providers = [_Provider(("prompts",), "no provider", {}, reason)]
        self.configured = tuple(name for one in providers for name in self._add(one))

    def _add(self, provider: _Provider, known: Iterable[JsonObject] = ()) -> list[str]:
        """Add a variant for each prompt of a provider, unless it is known; their names."""
        settings, names = self._settings(provider), []
        wanted = provider.fields.get("prompts")
        if isinstance(wanted, list):
            labels = [prompt.labels for prompt in self._prompts]
            self._check_names(wanted, labels, "prompt", (*provider.at, "prompts"))
        own = str(provider.fields.get("label") or provider.id)
        for prompt in self._prompts:
            if isinstance(wanted, list) and not _is_named(prompt.labels, wanted):
                continue
            name = own if len(self._prompts) == 1 else f"{own} {prompt.name}"
            variant = self._variant(name, prompt, settings, provider)
            same = (str(one["id"]) for one in known if {**one, "id": name} == variant)
            if (found := next(same, None)) is None:
                found = unused_name(name, self._variants, " ")
                self._variants[found] = {**variant, "id": found}
                self._made[found] = frozenset({provider.id, own}), prompt.labels
            names.append(found)
        return names

    def run(self, grader: JsonValue) -> PromptfooRun:
        """The variants, and the judges: the default grader, and those that were named before."""
        judges = [{**judge, "name": name} for name, judge in self._judges.items()]
        if (found := self._judge(grader, ("defaultTest", "options", "provider"))) is not None:
            judges.insert(0, found[1])
        return PromptfooRun(variants=tuple(self._variants.values()), judges=tuple(judges))

    def chosen(self, test: JsonObject, at: KeyPath) -> tuple[str, ...] | None:
        """The variants that a test chooses; None for all that are `configured`."""
        wanted = {key: test[key] for key in sorted(CHOOSING_FIELDS) if test.get(key) is not None}
        # It answers in the place of every provider of the configuration, as often as there are.
        variants = self._of_test(wanted.pop("provider", None), (*at, "provider"))
        if variants:
            wanted.pop("providers", None)
        elif not wanted:
            return None
        variants = variants or [*self.configured]
        for key, names in wanted.items():
            named = {name: parts[key == "prompts"] for name, parts in self._made.items()}
            listed = one_or_several(names)
            self._check_names(listed, named.values(), key.removesuffix("s"), (*at, key))
            variants = [name for name in variants if _is_named(named[name], listed)]
        return tuple(variants)

    def _of_test(self, value: JsonValue, at: KeyPath) -> list[str]:
        key = json.dumps(value)
        if key not in self._of_tests:
            provider = next(self._providers(value, at), None)
            known = tuple(self._variants.values())
            self._of_tests[key] = [] if provider is None else self._add(provider, known)
        return self._of_tests[key]

    def _check_names(
        self, names: Iterable[JsonValue], known: Collection[frozenset[str]], what: str, at: KeyPath
    ) -> None:
        """Refuse misspelt names, as promptfoo does: what they are to choose would never be run."""
        for name in names:
            if not any(_is_named(own, [name]) for own in known):
                remedy = suggest_name(str(name)[:60], frozenset[str]().union(*known))
                self.reading.add(at, f"no {what} is called {str(name)[:60]!r}", remedy)

    def _lose(self, at: KeyPath, message: str, remedy: str | None = None) -> str:
        """List what keeps variants from being called; the reason, with its place."""
        self.reading.leave_out(at, message, remedy)
        document = self.reading.document
        return f"{document.path.name}:{document.line_of(*at)}: {message}"

    def _variant(
        self, name: str, prompt: _Prompt, settings: JsonObject, provider: _Provider
    ) -> JsonObject:
        lost = prompt.lost or settings.get("not_imported")
        if self.images and _CODE in f"{prompt.text} {settings.get('model', _CODE)}" and not lost:
            message = f"the provider {provider.id[:60]!r} cannot be called: images are sent to "
            lost = self._lose(provider.at, f"{message}models alone", _OWN_PROVIDER)
        if lost is not None:
            known = {"prompt": prompt.text or None, "model": settings.get("model")}
            return {"id": name, **{k: v for k, v in known.items() if v}, "not_imported": lost}
        if "http" in settings:
            # The text of the prompt stands where the body shows it.
            text = prompt.text.removeprefix(_USER).removesuffix(_END)
            filled = map_texts(settings, (), lambda part, _: _PROMPT.sub(lambda _: text, part))
            return {"id": name, **as_mapping(filled)}
        config: JsonObject = {**provider.config, **prompt.config}
        variant = {"id": name, "prompt": prompt.text, **settings}
        if not str(settings["model"]).startswith(_CODE):  # a function gets all of it
            config, base = self._parameters(config, provider)
            variant |= {} if base is None else {"api_base": base}
        return variant | ({"parameters": config} if config else {})

    def judge_name(self, value: JsonValue, at: KeyPath) -> str | None:
        """The name of the judge that a grader of an assertion or a test is."""
        if (found := self._judge(value, at)) is None:
            return None
        name, judge = found
        others = [other for other, known in self._judges.items() if known != judge]
        self._judges[name := unused_name(name, others, " ")] = judge
        return name

    def _judge(self, value: JsonValue, at: KeyPath) -> tuple[str, JsonObject] | None:
        if isinstance(value, dict) and "id" not in value and "text" in value:
            value = value["text"]  # one provider each for texts, embeddings, …
        provider = next(self._providers(value, at), None)
        if provider is None:
            return None
        model = litellm_name(provider.id)
        if model is None:
            message = f"the grader {provider.id[:60]!r} is not imported: no model is called so"
            self.reading.leave_out(at, message, "name a judge: --judge MODEL")
            return None
        settings, base = self._parameters(provider.config, provider)
        for name in sorted(settings.keys() - _JUDGE_SETTINGS):
            self._leave_out_setting((*provider.at, "config", name))
        judge = {name: one for name, one in settings.items() if name in _JUDGE_SETTINGS}
        judge |= {"model": model} | ({} if base is None else {"api_base": base})
        return str(provider.fields.get("label") or provider.id), judge

    def _providers(self, value: JsonValue, at: KeyPath) -> Iterator[_Provider]:
        if isinstance(value, list):
            for place, item in enumerate(value):
                yield from self._providers(item, (*at, place))
        elif isinstance(value, str):
            is_list = value.startswith(FILE) and code_path(value) is None
            yield from self._in_files(value, at) if is_list else [_Provider(at, value, {})]
        elif isinstance(value, dict):
            named = value.get("id")
            alone = [*value.items()] if len(value) == 1 else []
            if not isinstance(named, str) and alone and isinstance(alone[0][1], dict):
                named, value = alone[0]  # `openai:gpt-4.1: {config: …}`
                named = value.get("id") or named if isinstance(value, dict) else named
            if isinstance(named, str) and isinstance(value, dict):
                yield _Provider(at, named, value)
                return
            self.reading.leave_out(at, "a provider is a text or a mapping with an `id`")

    def _in_files(self, name: str, at: KeyPath) -> Iterator[_Provider]:
        documents, lost = self._read(name, at, "providers", lambda path: read_document(path).value)
        for _, listed in documents:
            # A file names no further file, which could name the first.
            items = [one for one in one_or_several(listed) if not _is_file(one)]
            yield from self._providers(items, at)
        yield from (_Provider(at, name.removeprefix(FILE), {}, reason) for reason in lost)

    def _read(
        self, name: str, at: KeyPath, what: str, read: Callable[[Path], _T]
    ) -> tuple[list[tuple[Path, _T]], list[str]]:
        """What is in the files of a name, and why some of it cannot be read."""
        found: list[tuple[Path, _T]] = []
        reasons: list[str] = []

        def lose(at: KeyPath, message: str, remedy: str | None) -> None:
            reasons.append(self._lose(at, f"the {what} cannot be read: {message}", remedy))

        try:
            paths = self.files.paths(name)
        except AttachmentError as error:
            lose(at, str(error), error.remedy)
            return found, reasons
        for path in paths:
            try:
                found.append((path, read(path)))
            except DatasetError as error:
                lose(at, error.message, error.hint)
        return found, reasons

    def _settings(self, provider: _Provider) -> JsonObject:
        """What of a variant a provider sets; why it is not called where nothing here can."""
        if provider.lost is not None:
            return {"not_imported": provider.lost}
        if _IS_HTTP.match(provider.id):
            return self._http(provider)
        for name in sorted(provider.fields.keys() - {"id", "label", "config", "prompts"}):
            self._leave_out_setting((*provider.at, name))
        if (model := litellm_name(provider.id)) is not None:
            return {"model": model}
        named = f"the provider {provider.id[:60]!r}"
        call = code_call(re.sub(r"^(?:python|javascript):", FILE, provider.id))
        is_program = provider.id.startswith("exec:") and "{{" not in provider.id
        if is_program or (call is not None and "file" in call):
            message = f"{named} is not imported: it {NEEDS_SCRIPTS}"
            self.reading.leave_out(provider.at, message, _OWN_PROVIDER)
            return {"model": f"{_CODE}{provider.id}" if is_program else _code_name(call or {})}
        reason = "no model is called so here"
        if code_path(provider.id) or re.match(r"(?:golang|ruby):", provider.id):
            reason = NO_CODE
        elif "{{" in provider.id:
            reason = "its name holds a template"
        message = f"{named} cannot be called: {reason}"
        return {"not_imported": self._lose(provider.at, message, _OWN_PROVIDER)}

    def _http(self, provider: _Provider) -> JsonObject:
        """An endpoint, where no more is done than to send JSON and take a part of the reply."""
        config, at = provider.config, provider.at
        url, body = str(config.get("url") or provider.id), config.get("body")
        body = _json(body) if isinstance(body, str) else body
        response = str(config.get("transformResponse") or config.get("responseParser") or "text")
        steps = self._response_steps(response, (*at, "config", "transformResponse"))
        method = str(config.get("method") or "POST").upper()
        try:
            sent = map_texts(body, (), lambda text, _: as_jinja(text, self.certain, self.values)[0])
        except UntranslatedError:
            sent = None
        is_read = isinstance(sent, dict) and steps is not None and method in {"POST", "PUT"}
        if not is_read or "://" not in url or "{{" in url:
            message = f"the provider {provider.id[:60]!r} cannot be called: its request is not read"
            return {"not_imported": self._lose(at, message, _OWN_PROVIDER)}
        for name in sorted(config.keys() - _HTTP_FIELDS):
            self._leave_out_setting((*at, "config", name))
        # A key stands in the environment; a suite names it with a dollar sign.
        texts: JsonObject = {}
        for name, value in as_mapping(config.get("headers")).items():
            text = _ENV.sub(r"${\1}", str(value))
            if _KEYS.search(name) and "${" not in text:
                self._leave_out_setting((*at, "config", "headers", name))
            else:
                texts[name] = text
        http: JsonObject = {"url": url, "method": method, "headers": texts, "body": sent}
        return {"http": http, **({"transform": [*steps]} if steps else {})}

    def _response_steps(self, response: str, at: KeyPath) -> list[JsonObject] | None:
        """The steps from the text of a reply to the answer; None for code in a file."""
        reply = {"json": "JSON.parse(output)", "text": "output"}
        steps = as_steps(_RESPONSE.sub(lambda found: reply[found[1]], response))
        if steps is not None:
            return [*steps]
        # An expression, or a function of `json` and `text`.
        call = None if _is_file(response) else code_call(_READ_REPLY % response.strip().rstrip(";"))
        if call is None:
            return None
        message = f"`{at[-1]}` of a provider is not imported: it {NEEDS_SCRIPTS}"
        self.reading.leave_out(at, message, _OWN_PROVIDER)
        return [{"call": call}]

    def _parameters(self, config: JsonObject, provider: _Provider) -> tuple[JsonObject, str | None]:
        """Parameters under litellm's names, and the endpoint where it is another."""
        found: JsonObject = {}
        base: str | None = None
        for name, value in config.items():
            own = _RENAMED.get(name, name)
            if name in _NESTED and isinstance(value, dict):
                found |= self._parameters(value, provider)[0]
            elif own in _PARAMETERS:
                read = self._content(value, (*provider.at, "config", name))
                found |= {} if read is None else {own: read}
            elif name == "reasoning" and isinstance(value, dict) and set(value) == {"effort"}:
                found["reasoning_effort"] = value["effort"]
            elif name in _BASES and isinstance(value, str) and "{{" not in value:
                base = value if "://" in value else f"https://{value}"
            elif value is not None:
                self._leave_out_setting((*provider.at, "config", name))
        return found, base

    def _leave_out_setting(self, at: KeyPath) -> None:
        name = str(at[-1])[:60]
        message = f"`{name}` of a provider is not imported: {NO_COUNTERPART}"
        self.reading.leave_out(at, message, _KEY_REMEDY if _KEYS.search(name) else None)

    def _content(self, value: JsonValue, at: KeyPath) -> JsonValue:
        """A setting, or the document in the file that it names."""
        if not _is_file(value):
            return value
        files, _ = self._read(str(value), at, "file", lambda path: read_document(path).value)
        return files[0][1] if files else None

    def _read_prompts(self, value: JsonValue) -> Iterator[_Prompt]:
        if isinstance(value, dict):  # files with their labels
            value = [{"id": name, "label": label} for name, label in value.items()]
        number = 0
        for place, item in enumerate(value if isinstance(value, list) else [value or "{{prompt}}"]):
            at: KeyPath = ("prompts", place)
            fields: JsonObject = item if isinstance(item, dict) else {"raw": item}
            raw = fields.get("raw") or fields.get("content") or fields.get("id")
            if not isinstance(raw, str):
                message = f"a prompt is a text, not {json_kind(raw if raw is not None else item)}"
                self.reading.leave_out(at, message)
                continue
            for text, label, lost in self._texts(raw, at):
                number += 1
                yield self._prompt(text, fields, at, f"prompt-{number}", label, lost)

    def _prompt(
        self,
        text: str,
        fields: JsonObject,
        at: KeyPath,
        name: str,
        own_label: str,
        lost: str | None,
    ) -> _Prompt:
        try:
            template = self._template(text, at) if lost is None else ""
        except UntranslatedError as error:
            message = f"the prompt cannot be sent: {error} cannot be translated"
            template, lost = "", self._lose(at, message, _OWN_PROMPT)
        label = str(fields.get("label") or own_label)
        names = [label, *(str(fields[key]) for key in ("id", "raw") if fields.get(key))]
        labels = {name.removeprefix(FILE) for name in names if name} | {*names} - {""}
        # A long label is mostly the prompt itself.
        is_short = label and "\n" not in label and len(label) <= _LONGEST_LABEL
        config = as_mapping(fields.get("config"))
        return _Prompt(template, label if is_short else name, frozenset(labels), config, lost)

    def _texts(self, raw: str, at: KeyPath) -> Iterator[tuple[str, str, str | None]]:
        """The prompts of an entry with their own labels, or why it is not read."""
        is_file = raw.startswith(FILE) or _LOOKS_LIKE_FILE.fullmatch(raw.partition(":")[0])
        is_foreign = re.match(r"(?:exec:|(?:langfuse|portkey|helicone)://)", raw)
        if not is_file and not is_foreign:
            yield raw, "", None
            return
        call = code_call(raw if raw.startswith(FILE) else f"{FILE}{raw}") if is_file else None
        is_called = call is not None and (call["language"] != "python" or "function" in call)
        if is_foreign or code_path(raw) is not None:
            if call is not None and is_called:
                message = f"the prompt {raw[:80]!r} is not imported: it {NEEDS_SCRIPTS}"
                self.reading.leave_out(at, message, _OWN_PROMPT)
                label = str(call.get("function") or Path(str(call["file"])).stem)
                yield _code_name(call), label, None
                return
            reason = "nothing is fetched" if is_foreign and "://" in raw else NO_CODE
            message = f"the prompt {raw[:80]!r} cannot be sent: {reason}"
            yield "", "", self._lose(at, message, _OWN_PROMPT)
            return
        files, lost = self._read(raw, at, "prompt", lambda path: [*_file_prompts(path)])
        for path, texts in files:
            for place, (text, label) in enumerate(texts, 1):
                own = path.stem if len(texts) == 1 else f"{path.stem}-{place}"
                yield text, label or own, None
        yield from (("", "", reason) for reason in lost)

    def _template(self, text: str, at: KeyPath) -> str:
        """A prompt in Jinja, over `variables`: a text, or one block for each message."""
        if text.startswith(_CODE):
            return text
        messages = _messages(text, self.images)
        if messages is None:
            template = self._jinja(text, at)
            is_template = "{{" in template or "{%" in template
            return template if is_template else f"{_USER}{template}{_END}"
        roles = [role for role, _ in messages]
        if unknown := sorted(set(roles) - _ROLES):
            raise UntranslatedError(f"the role `{unknown[0][:40]}`")
        is_plain = roles in (["user"], ["system", "user"])
        return "\n".join(
            f"{{% block {role if is_plain else f'{role}_{place}'} %}}{self._jinja(text, at)}{_END}"
            for place, (role, text) in enumerate(messages, 1)
        )

    def _jinja(self, text: str, at: KeyPath) -> str:
        template, names = as_jinja(text, self.certain, self.values)
        for name in sorted(names - self.all_names):
            message = f"the prompt shows `{name[:60]}`, which no test sets"
            self.reading.warn(at, message, "it is empty in every prompt: add it to the `vars`")
        return template


def _is_named(names: frozenset[str], wanted: Iterable[JsonValue]) -> bool:
    """Whether one of the names is wanted: itself, as `name:…`, or by `beginning*`."""
    return any(
        name == one or name.startswith(f"{one}:") or (one[-1:] == "*" and name.startswith(one[:-1]))
        for name in names
        for one in map(str, wanted)
    )


def _is_file(value: JsonValue) -> bool:
    return isinstance(value, str) and value.startswith(FILE)


def _code_name(call: JsonObject) -> str:
    return _CODE + ":".join(str(call[part]) for part in ("file", "function") if part in call)


def _file_prompts(path: Path) -> Iterator[tuple[str, str]]:
    """The prompts of a file, each with the label that the file gives it."""
    suffix = suffix_of(path)
    if suffix == ".csv":
        for row in iter_rows(path):
            if row.fields.get("prompt"):
                yield str(row.fields["prompt"]), str(row.fields.get("label") or "")
        return
    text = read_text(path)
    parts = [text]
    if suffix == ".txt":
        parts = [part.strip() for part in _SEPARATOR.split(text)]
    elif suffix == ".jsonl":
        parts = text.splitlines()
    elif suffix in {".yaml", ".yml"}:
        value = parse_document(text, path).value
        parts = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]
    yield from ((part, "") for part in parts if part.strip())


def _messages(text: str, images: frozenset[str]) -> list[tuple[str, str]] | None:
    """The messages of a chat that is written as JSON or YAML; None for a text."""
    stripped = text.strip()
    if stripped[:1] in {"[", "{"} and '"role"' in stripped:
        # `{{ x | dump }}` stands for a text with its quotes.
        value = _json(stripped) or _json(_DUMPED.sub(r'"{{\1}}"', stripped))
        if value is None:
            raise UntranslatedError("a chat whose JSON a template builds")
    elif re.match(r"-\s+role\s*:", stripped):
        try:
            value = parse_document(stripped, Path("prompt.yaml")).value
        except DatasetError as error:
            raise UntranslatedError("a chat whose YAML a template builds") from error
    else:
        return None
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = value["messages"]
    return [_message(item, images) for item in one_or_several(value)]


def _json(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _message(item: JsonValue, images: frozenset[str]) -> tuple[str, str]:
    role, content = (item.get("role"), item.get("content")) if isinstance(item, dict) else (0, 0)
    if isinstance(content, list):
        content = "\n".join(_part(part, images) for part in content)
    if not isinstance(role, str) or not isinstance(content, str):
        raise UntranslatedError("a message that is not a role with a text")
    return role, content


def _part(part: JsonValue, images: frozenset[str]) -> str:
    """A part of a message; in the place of an image, the variable that is one."""
    fields = as_mapping(part)
    if isinstance(text := fields.get("text"), str):
        return text
    source = fields.get("image_url", fields.get("source"))
    address = source.get("url", source.get("data")) if isinstance(source, dict) else source
    shown = _IMAGE.fullmatch(address) if isinstance(address, str) else None
    if shown is None or shown[1] not in images:
        raise UntranslatedError("a part that is no text, nor a variable with an image in each test")
    return f"{{{{{shown[1]}}}}}"
