"""Why requests are not owned, told by cause instead of request by request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from judgekit.models.cache.explain import explain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.models.cache.explain import Explanation
    from judgekit.models.cache.interface import ReplyCache
    from judgekit.models.request import ModelRequest

MOST_COMPARISONS = 200_000
"""Of a request with an entry; each takes some ninety millionths of a second."""

_FEWEST_EXPLAINED = 20

Kind = Literal["settings", "template", "criterion", "question", "material", "both", "schema"]


@dataclass(slots=True)
class MissGroup:
    """Requests that are not owned for one and the same reason."""

    title: str
    """The reason, in words."""

    example: Explanation
    """One of the requests, compared with the entry nearest to it."""

    requests: list[ModelRequest] = field(default_factory=list)
    """The requests."""

    @property
    def parts(self) -> list[str]:
        """The parts of the key that differ."""
        return [difference.part for difference in self.example.differences]

    @property
    def cases(self) -> list[str]:
        """The cases they are about, each once."""
        return list(dict.fromkeys(request.subject.case_id or "?" for request in self.requests))


@dataclass(frozen=True, slots=True)
class Misses:
    """What of some requests is owned, and why the rest is not."""

    n_requests: int
    """All requests."""

    n_owned: int
    """Those whose reply would be served."""

    n_rejected: int
    """Those that were paid for, but whose reply was cut short or filtered."""

    groups: tuple[MissGroup, ...]
    """The others by reason, the most frequent first."""

    n_not_compared: int
    """Requests that were left out because comparing all would take too long."""


@dataclass(frozen=True, slots=True)
class _Cause:
    kind: Kind
    is_new: bool
    detail: tuple[str, ...]
    changed: frozenset[str] = frozenset()


def find_misses(
    cache: ReplyCache,
    requests: Sequence[ModelRequest],
    *,
    asks_all: bool,
    most_comparisons: int = MOST_COMPARISONS,
) -> Misses:
    """Compare requests with what is owned, and group those that are not by what differs."""
    missed = [request for request in requests if request.key not in cache]
    compared = _sample(missed, max(_FEWEST_EXPLAINED, most_comparisons // max(1, len(cache))))
    present = {request.key for request in requests}
    grouped: dict[_Cause, MissGroup] = {}
    n_rejected = 0
    for request in compared:
        found = explain(cache, request)
        n_rejected += found.n_rejected > 0
        cause = _cause(cache, request, found, present, asks_all=asks_all)
        group = grouped.setdefault(cause, MissGroup("", found))
        group.requests.append(request)
    groups = _titled(_template_edits(grouped))
    return Misses(
        n_requests=len(requests),
        n_owned=len(requests) - len(missed),
        n_rejected=n_rejected,
        groups=tuple(sorted(groups, key=lambda group: -len(group.requests))),
        n_not_compared=len(missed) - len(compared),
    )


def _sample(requests: Sequence[ModelRequest], most: int) -> Sequence[ModelRequest]:
    if len(requests) <= most:
        return requests
    return [requests[number * len(requests) // most] for number in range(most)]


def _cause(
    cache: ReplyCache,
    request: ModelRequest,
    found: Explanation,
    present: set[str],
    *,
    asks_all: bool,
) -> _Cause:
    """The cause of a miss; `is_new` when the nearest entry is that of a sibling still asked for."""
    is_new = found.nearest is None or found.nearest in present
    plain = [d for d in found.differences if not d.part.startswith(("messages", "reply_schema"))]
    if plain or found.nearest is None:
        words = tuple(f"{d.part} is {d.asked}, not {d.held}" for d in plain)
        return _Cause("settings", is_new, words or ("the cache is empty",))
    last = f"messages[{len(request.messages) - 1}].content"
    messages = {d.part for d in found.differences if d.part.startswith("messages")}
    if messages - {last}:
        return _Cause("template", is_new=False, detail=())
    if not messages:
        return _Cause("schema", is_new, _about(request))
    return _text_cause(request, _last_text(cache, found.nearest), is_new=is_new, asks_all=asks_all)


def _text_cause(request: ModelRequest, held: str, *, is_new: bool, asks_all: bool) -> _Cause:
    """Whether the last message differs in its shared front or in its end."""
    asked = request.messages[-1]["content"]
    front, end = asked[: request.shared_prefix or 0], asked[request.shared_prefix or 0 :]
    front_differs = not held.startswith(front)
    end_differs = not held.endswith(end) if front_differs else held[len(front) :] != end
    criterion_differs = front_differs if asks_all else end_differs
    material_differs = end_differs if asks_all else front_differs
    if criterion_differs and material_differs:
        return _Cause("both", is_new, ())
    if material_differs:
        return _Cause("material", is_new, ())
    changed = frozenset(asked.splitlines()) ^ frozenset(held.splitlines())
    return _Cause("criterion", is_new, _about(request), changed)


def _about(request: ModelRequest) -> tuple[str, ...]:
    return () if request.subject.criterion is None else (request.subject.criterion,)


def _last_text(cache: ReplyCache, key: str) -> str:
    messages = (cache.request_parts(key) or {}).get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    return str(last.get("content")) if isinstance(last, dict) else ""


def _template_edits(grouped: dict[_Cause, MissGroup]) -> dict[_Cause, MissGroup]:
    """The same lines changed for several criteria: it is the template that was edited."""
    by_change: dict[frozenset[str], list[_Cause]] = {}
    for cause in grouped:
        if cause.kind == "criterion" and cause.detail:
            by_change.setdefault(cause.changed, []).append(cause)
    merged = dict(grouped)
    for causes in by_change.values():
        if len({cause.detail for cause in causes}) > 1:
            group = MissGroup("", grouped[causes[0]].example)
            for cause in causes:
                group.requests += merged.pop(cause).requests
            merged[_Cause("question", is_new=False, detail=())] = group
    return merged


def _titled(grouped: dict[_Cause, MissGroup]) -> Iterable[MissGroup]:
    """Groups with their reason in words; criteria whose lines differ by case are one group."""
    by_title: dict[str, MissGroup] = {}
    for cause, group in grouped.items():
        title = _title(cause)
        merged = by_title.setdefault(title, MissGroup(title, group.example))
        merged.requests += group.requests
    return by_title.values()


def _title(cause: _Cause) -> str:
    if cause.kind == "settings":
        return "; ".join(cause.detail)
    name = f"criterion {cause.detail[0]!r}" if cause.detail else "a criterion"
    became = "is new" if cause.is_new else "was edited"
    edited = "the material was edited (task, reference, context or output)"
    titles: dict[Kind, str] = {
        "template": "the template's instructions were edited",
        "question": "the template's question was edited",
        "criterion": f"{name} {became}",
        "schema": f"the reply schema of {name} {became}",
        "material": "outputs that were never graded" if cause.is_new else edited,
        "both": "the material and the criterion differ from all that is owned",
    }
    return titles[cause.kind]
