"""The page on which an annotator labels the items of a packet: one file, or a page of the viewer.

It has what an annotator needs and nothing that would tell where an output came from: no case id, no
variant, no judge, no run. Outputs that name their maker are scrubbed as they are for a judge that
compares two. The script `label.js` shows the items and keeps the answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from judgekit.evaluation import blind_output, rubric_of_result, variant_version_in
from judgekit.prompts import judged_text, scale_words, scrub, steps_text, to_text
from judgekit.records import ItemKey
from judgekit.report import message, numbers
from judgekit.report.html import asset_text, file_policy, page_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judgekit.evaluation import OutputPair
    from judgekit.records import (
        Case,
        CaseResult,
        Criterion,
        JsonObject,
        LabelPacket,
        Output,
        PacketItem,
        RunInfo,
    )

LABEL_FORMAT = "judgekit-label/1"
"""The version of what `label.js` reads."""

_MOST_KEYS = 9
# What an item takes before an annotator's own pace is known: 200 words, or two texts.
_SECONDS = 30
_PAIR_SECONDS = 25
_MINUTE = 60
_TAB = 4
_WHOLE_PAIR: JsonObject = {
    "name": None, "question": "Which answer is better overall?", "guide": "", "scale": "",
    "levels": [],
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LabelTask:
    """What the page of a packet shows."""

    packet: LabelPacket
    data: JsonObject
    """The input of `label.js`."""

    @property
    def intro(self) -> tuple[str, ...]:
        """The task in a few sentences."""
        is_pair, n = self.packet.is_pairwise, len(self.packet.items)
        do = (
            "Read both answers and say which one is better, or that they are equally good."
            if is_pair
            else "Read each answer and score it on every criterion below."
        )
        reason = " Give a reason with each choice." if self.packet.requires_reason else ""
        what = ("pair", "pairs") if is_pair else ("answer", "answers")
        minutes = max(1, round(n * (_PAIR_SECONDS if is_pair else _SECONDS) / _MINUTE))
        n_minutes = numbers.format_count(minutes, "minute")
        amount = f"{'is' if n == 1 else 'are'} {numbers.format_count(n, *what)}"
        when = "You can stop at any time and continue later."
        return (
            f"{do}{reason} Judge only what you see: who wrote an answer is hidden on purpose.",
            f"There {amount}, which takes about {n_minutes}. {when}",
            "If you cannot judge one, choose “Cannot judge” instead of guessing.",
        )


def run_label_task(packet: LabelPacket, run: RunInfo, results: Iterable[CaseResult]) -> LabelTask:
    """The task of a packet of single outputs."""
    by_key = {(one.case_id, one.variant, one.repeat): one for one in packet.items}
    shown: dict[ItemKey, CaseResult] = {
        result.key: result for result in results if tuple(result.key) in by_key
    }
    hidden = hidden_names(run)
    criteria: dict[str, Criterion] = {}
    items: list[JsonObject] = []
    for item in packet.items:
        result = shown[ItemKey(item.case_id, item.variant or "", item.repeat)]
        rubric = rubric_of_result(result, run)
        asked = [c for c in (rubric.criteria if rubric else ()) if c.name in packet.criteria]
        # Two cases may have rubrics of their own with a criterion of one name.
        own = {f"{one.name} {one.fingerprint}": one for one in asked}
        criteria |= own
        outputs = [_shown_output(result.output, hidden)]
        items.append(_item(item, result.case, outputs, [[*criteria].index(key) for key in own]))
    return _task(packet, [*criteria.values()], items)


def pair_label_task(
    packet: LabelPacket, pairs: Iterable[OutputPair], hidden: Sequence[str]
) -> LabelTask:
    """The task of a packet of pairs; a criterion that is asked about decides what is better."""
    shown = {pair.case.id: pair for pair in pairs if pair.repeat == 0}
    rubric = packet.rubric
    criteria = [c for c in (rubric.criteria if rubric else ()) if c.name in packet.criteria]
    items: list[JsonObject] = []
    for item in packet.items:
        pair = shown[item.case_id]
        sides = (pair.a, pair.b) if item.order == "ab" else (pair.b, pair.a)
        outputs = [_shown_output(side, hidden) for side in sides]
        items.append(_item(item, pair.case, outputs, [*range(max(1, len(criteria)))]))
    return _task(packet, criteria, items)


def hidden_names(run: RunInfo) -> tuple[str, ...]:
    """What would give a variant of a run away in its output: its id, models and providers."""
    names = []
    for variant in run.variants:
        version = variant_version_in(run, variant.id)
        models = [version.model] if version is not None and version.model else []
        models += [*variant.model_by_node.values(), *variant.provider_by_node.values()]
        names += [variant.id, variant.base_id, *models]
    return tuple(dict.fromkeys(names))


def render_label_page(
    task: LabelTask,
    *,
    assets: str | None = None,
    answers: str | None = None,
    write_token: str | None = None,
) -> str:
    """The page of a task: one file; with `assets` and `answers`, addresses, one of the viewer."""
    script, style = asset_text("page.js"), asset_text("page.css")
    return page_template("label.html.j2").render(
        task=task,
        criteria=task.data["criteria"],
        assets=assets,
        answers=answers,
        write_token=write_token,
        script=Markup(script),  # noqa: S704 - our own file
        style=Markup(style),  # noqa: S704 - our own file
        policy=file_policy(script, style),
    )


def _task(packet: LabelPacket, criteria: Sequence[Criterion], items: list[JsonObject]) -> LabelTask:
    whole: list[JsonObject] = [_WHOLE_PAIR]
    asked = [_criterion(one, is_pair=packet.is_pairwise) for one in criteria] or whole
    data: JsonObject = {
        "format": LABEL_FORMAT,
        "packet": packet.id,
        "pairs": packet.is_pairwise,
        "reason": packet.requires_reason,
        "seconds": _PAIR_SECONDS if packet.is_pairwise else _SECONDS,
        "criteria": [*asked],
        "items": [*items],
    }
    return LabelTask(packet, data)


def _criterion(criterion: Criterion, *, is_pair: bool) -> JsonObject:
    scale = criterion.scale
    points = scale.points
    # More levels than there are digits are typed in.
    has_keys = points is not None and len(points) <= _MOST_KEYS
    known = {level.value: level for level in scale.levels}
    return {
        "name": criterion.name,
        "question": criterion.question,
        "guide": criterion.scoring_guide or "",
        "min": scale.min,
        "max": scale.max,
        "whole": scale.integer,
        "scale": f"Score: {scale_words(scale)}",
        "levels": [
            {
                "value": point,
                "shown": f"{point:g}",
                "name": known[point].name or "" if point in known else "",
                "about": known[point].description or "" if point in known else "",
            }
            for point in (points or ())
        ]
        if has_keys and not is_pair
        else [],
    }


def _item(
    item: PacketItem, case: Case, outputs: Sequence[Mapping[str, str]], criteria: Sequence[int]
) -> JsonObject:
    about = (("Input", case.input), ("Context", case.context), ("Reference answer", case.reference))
    return {
        "id": item.id,
        # The drawn items come first: with these alone a rate can be estimated.
        "part": 0 if item.chosen == "random" else 1,
        "again": item.repeats or "",
        "about": [
            {"title": title, "text": _text(to_text(value))}
            for title, value in about
            if value is not None
        ],
        "outputs": [dict(output) for output in outputs],
        "criteria": [*criteria],
    }


def _shown_output(output: Output, hidden: Sequence[str]) -> dict[str, str]:
    blind = blind_output(output)
    steps = scrub(steps_text(blind), hidden)[0] if blind.trace else ""
    text = scrub(judged_text(blind), hidden)[0]
    return {"text": _text(text) or "(no text)", "steps": _text(steps)}


def _text(text: str) -> str:
    # The page shows control and direction characters by their codes; line breaks and tabs are none.
    return message.message_lines(text.replace("\r\n", "\n").expandtabs(_TAB))
