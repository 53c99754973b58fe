"""`judgekit cache explain`: why requests are not cached, grouped by cause."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import click

from judgekit.cli import console as streams
from judgekit.cli.help import command
from judgekit.cli.options import (
    CacheFolderOptions,
    GradingOptions,
    InputOptions,
    OutputOptions,
    SettingGroups,
    judge_option,
)
from judgekit.cli.setup import grade_setup, open_cache
from judgekit.datasets import JudgeSettings
from judgekit.errors import SettingsError
from judgekit.models import RecordedModel
from judgekit.models.cache import explain_request, find_cache_key
from judgekit.report import message, numbers, print_key_differences, request_summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.models.cache import CacheExplanation, ReplyCache
    from judgekit.models.request import ModelRequest

# At least four digits: shorter prefixes match too many entries to be useful.
_KEY = re.compile(r"[0-9a-f]{4,64}")
_MOST_GROUPS = 20
_SHOWN_CASES = 3


class _ExplainOptions(InputOptions, CacheFolderOptions, OutputOptions):
    judge_settings: Annotated[JudgeSettings, SettingGroups("judge")] = JudgeSettings()
    judge_model: str | None = judge_option()


@command("explain", _ExplainOptions)
# A key is no path that exists, so the argument cannot require one.
@click.argument("outputs", nargs=-1, metavar="[OUTPUTS|KEY]...", type=click.Path(path_type=Path))
def cache_explain_command(options: _ExplainOptions) -> None:
    """Explain why a grading would make calls: how its requests differ from cached ones.

    Takes the same OUTPUTS and options as judgekit grade and makes no call. Requests that are
    missing for the same reason are grouped. With a KEY, or its first digits, from judgekit cache
    ls it shows the cached reply closest to that one.

    Examples:
        judgekit cache explain outputs.jsonl --rubric helpfulness
    """
    if missing := [path for path in options.outputs if not path.exists()]:
        if len(options.outputs) > 1 or not _KEY.fullmatch(key := str(missing[0])):
            raise SettingsError(
                f"there is no file {missing[0]}",
                hint="name a file with outputs, or a key of 4 digits up",
            )
        with open_cache(options.cache_dir) as cache:
            _explain_key(cache, find_cache_key(cache, key), as_json=options.as_json)
        return
    # The judge only builds requests here; without a cache it cannot answer one by mistake.
    setup = grade_setup(GradingOptions.of(options, no_cache=True))
    with setup.judge as judge:
        # A suite from `init` names recorded replies, which never reach the cache.
        if isinstance(judge.connection.model, RecordedModel):
            raise SettingsError(
                "recorded replies are read from their file, not from the cache",
                hint="name the model that was asked with --judge",
            )
        requests = [
            request
            for case, output in setup.answers()
            for request in judge.requests(case, output, setup.rubric)
        ]
        asks_all = judge.template.header.asks == "all"
    with open_cache(options.cache_dir) as cache:
        found = find_misses(cache, requests, asks_all=asks_all)
    if options.as_json:
        groups = [group.to_json() for group in found.groups]
        streams.print_json({**asdict(replace(found, groups=())), "groups": groups})
    else:
        _print_misses(found)


def _print(text: str, style: str = "") -> None:
    streams.stdout().print(text, markup=False, style=style, soft_wrap=True)


def _explain_key(cache: ReplyCache, key: str, *, as_json: bool) -> None:
    found = explain_request(cache, key)
    if as_json:
        streams.print_json(asdict(found))
        return
    state = "is cached" if found.is_hit else "is not served"
    _print(f"{key[:12]} {state}: {request_summary(cache.request_parts(key))}")
    if found.n_rejected:
        rejected = numbers.format_count(found.n_rejected, "reply", "replies")
        _print(f"  {rejected} stored for the record, never served")
    if found.nearest is None:
        _print("  there is no other entry to compare it with")
        return
    _print(f"  nearest of {found.n_compared:,}: {found.nearest[:12]}, which differs in")
    print_key_differences(streams.stdout(), found.differences)


def _print_misses(found: MissReport) -> None:
    requests = numbers.format_count(found.n_requests, "request")
    _print(f"{found.n_owned:,} of {requests} cached", "bold")
    if found.n_rejected:
        asked = numbers.format_count(found.n_rejected, "request")
        words = "the reply was cut short or filtered and is never served"
        _print(f"{asked} asked before, but {words}")
    for group in found.groups[:_MOST_GROUPS]:
        n, parts, cases = len(group.requests), ", ".join(group.parts), group.cases
        differ = f"{'differs' if n == 1 else 'differ'} in {parts}" if parts else "not cached"
        title, requests = message.printable(group.title), numbers.format_count(n, "request")
        _print(f"{title}: {requests} {message.printable(differ)}")
        more = f" and {len(cases) - _SHOWN_CASES:,} more" if len(cases) > _SHOWN_CASES else ""
        named = message.printable(", ".join(cases[:_SHOWN_CASES]))
        _print(f"  {'case' if len(cases) == 1 else 'cases'} {named}{more}", "dim")
        print_key_differences(streams.stdout(), group.example.differences)
    if len(found.groups) > _MOST_GROUPS:
        _print(f"… and {len(found.groups) - _MOST_GROUPS} more reasons")
    if found.n_not_compared:
        more = numbers.format_count(found.n_not_compared, "more request")
        _print(f"{more} not cached and not compared; narrow them down with --limit or --filter-tag")


# A comparison of a request with an entry takes about 90 µs, so all of them about 18 s.
MOST_COMPARISONS = 200_000

_FEWEST_EXPLAINED = 20


@dataclass(slots=True)
class MissGroup:
    """Requests that are not cached for the same reason."""

    title: str
    example: CacheExplanation
    requests: list[ModelRequest] = field(default_factory=list)

    @property
    def parts(self) -> list[str]:
        return [difference.part for difference in self.example.differences]

    @property
    def cases(self) -> list[str]:
        return list(dict.fromkeys(request.subject.case_id or "?" for request in self.requests))

    def to_json(self) -> dict[str, object]:
        criteria = {request.subject.criterion for request in self.requests}
        return {
            "title": self.title,
            "n_requests": len(self.requests),
            "cases": self.cases,
            "criteria": sorted(name for name in criteria if name),
            "parts": self.parts,
            "example": {
                "key": self.example.key,
                "nearest": self.example.nearest,
                "differences": [asdict(difference) for difference in self.example.differences],
            },
        }


@dataclass(frozen=True, slots=True)
class MissReport:
    """How many requests are cached, and why the others are not."""

    n_requests: int
    n_owned: int
    n_rejected: int  # paid for, but the reply was truncated or filtered
    n_not_compared: int  # comparing all of them would take too long
    groups: tuple[MissGroup, ...]  # the most frequent reason first


class _Cause(NamedTuple):
    """What differs, in words; for an edited criterion also its name and the changed lines."""

    title: str
    criterion: str | None = None
    changed: frozenset[str] = frozenset()


def find_misses(
    cache: ReplyCache,
    requests: Sequence[ModelRequest],
    *,
    asks_all: bool,
    most_comparisons: int = MOST_COMPARISONS,
) -> MissReport:
    """Compare requests with cached ones, and group those that are missing by what differs."""
    missed = [request for request in requests if request.key not in cache]
    most = max(_FEWEST_EXPLAINED, most_comparisons // max(1, len(cache)))
    # Spread over all of them: the first ones may all be of one case.
    compared = missed
    if len(missed) > most:
        compared = [missed[number * len(missed) // most] for number in range(most)]
    # Two criteria of one new case are nearest to each other once one of them is cached.
    present = {request.key for request in requests}
    found = [explain_request(cache, request) for request in compared]
    causes = [
        _cause(cache, request, one, present, asks_all=asks_all)
        for request, one in zip(compared, found, strict=True)
    ]
    criteria: dict[frozenset[str], set[str]] = {}
    for cause in causes:
        if cause.criterion is not None:
            criteria.setdefault(cause.changed, set()).add(cause.criterion)
    # Criteria whose lines differ by case are one group.
    groups: dict[str, MissGroup] = {}
    for request, one, cause in zip(compared, found, causes, strict=True):
        title = cause.title
        # The same lines changed in several criteria: the template was edited.
        if cause.criterion is not None and len(criteria[cause.changed]) > 1:
            title = "the template's question was edited"
        groups.setdefault(title, MissGroup(title, one)).requests.append(request)
    return MissReport(
        n_requests=len(requests),
        n_owned=len(requests) - len(missed),
        n_rejected=sum(one.n_rejected > 0 for one in found),
        groups=tuple(sorted(groups.values(), key=lambda group: -len(group.requests))),
        n_not_compared=len(missed) - len(compared),
    )


def _cause(
    cache: ReplyCache,
    request: ModelRequest,
    found: CacheExplanation,
    present: set[str],
    *,
    asks_all: bool,
) -> _Cause:
    # If the nearest entry belongs to another request of this grading, nothing was edited.
    is_new = found.nearest is None or found.nearest in present
    plain = [d for d in found.differences if not d.part.startswith(("messages", "reply_schema"))]
    if plain or found.nearest is None:
        words = [f"{d.part} is {d.asked}, not {d.held}" for d in plain]
        return _Cause("; ".join(words or ["the cache is empty"]))
    last = f"messages[{len(request.messages) - 1}].content"
    messages = {d.part for d in found.differences if d.part.startswith("messages")}
    # Only the last message has the question and the output; the others are the template's.
    if messages - {last}:
        return _Cause("the template's instructions were edited")
    if not messages:
        return _Cause(f"the reply schema of {_criterion_words(request, is_new=is_new)}")
    stored = (cache.request_parts(found.nearest) or {}).get("messages")
    message = stored[-1] if isinstance(stored, list) and stored else None
    cached = str(message.get("content")) if isinstance(message, dict) else ""
    return _text_cause(request, cached, is_new=is_new, asks_all=asks_all)


def _text_cause(request: ModelRequest, cached: str, *, is_new: bool, asks_all: bool) -> _Cause:
    """Whether the last message differs in its shared front or in its end."""
    text = request.messages[-1]["content"]
    front, end = text[: request.shared_prefix or 0], text[request.shared_prefix or 0 :]
    front_differs = not cached.startswith(front)
    end_differs = not cached.endswith(end) if front_differs else cached[len(front) :] != end
    # Requests about one output share their front for the provider's cache: a template that asks for
    # all outputs of a criterion has the criterion there, every other one the material.
    criterion_differs = front_differs if asks_all else end_differs
    material_differs = end_differs if asks_all else front_differs
    if criterion_differs and material_differs:
        return _Cause("the material and the criterion differ from everything cached")
    if material_differs and is_new:
        return _Cause("outputs that were never graded")
    if material_differs:
        return _Cause("the material was edited (task, reference, context or output)")
    changed = frozenset(text.splitlines()) ^ frozenset(cached.splitlines())
    title = _criterion_words(request, is_new=is_new)
    return _Cause(title, request.subject.criterion, changed)


def _criterion_words(request: ModelRequest, *, is_new: bool) -> str:
    criterion = request.subject.criterion
    name = "a criterion" if criterion is None else f"criterion {criterion!r}"
    return f"{name} {'is new' if is_new else 'was edited'}"
