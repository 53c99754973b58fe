"""The routes on which annotators label a packet in the viewer; each answer is stored at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from judgekit import report
from judgekit.calibration import PACKET_FIELD, merge_labels, packet_of, resolve_labels, store_labels
from judgekit.datasets import locate_labels
from judgekit.errors import InputError
from judgekit.evaluation import has_model_judges, label_rows, update_run_status
from judgekit.records import ItemKey, JsonObject, LabelPacket
from judgekit.web.replies import ViewContext, page_reply, write_route

if TYPE_CHECKING:
    from starlette.requests import Request


class LabellingPages:
    """The page of a packet, its answers and how far annotators agree."""

    def __init__(self, context: ViewContext) -> None:
        self._context = context
        self._store = context.store

    def page(self, request: Request) -> Response:
        packet = self._packet(request)
        labelling = report.packet_labelling(packet, self._store, answers=f"/api/label/{packet.id}")
        links = report.PageLinks("/assets/", "", write_token=self._context.write_token)
        # No other page is linked: annotators are not to see where outputs came from.
        return HTMLResponse("".join(report.html_parts(report.label_document(labelling), links)))

    def answer(self, request: Request, posted: dict[str, object]) -> object:
        """Store new answers of an annotator; without any, give those that are stored."""
        packet = self._packet(request)
        rows, annotator = posted.get("labels"), posted.get("annotator")
        if not isinstance(rows, list) or not isinstance(annotator, str) or not annotator.strip():
            raise InputError("the answers need an `annotator` and a list of `labels`")
        own = (row for row in self._rows(packet) if row["annotator"] == annotator)
        if not rows:
            return {"labels": [*own]}
        located = locate_labels(rows)
        if {packet_of(one.label) for one in located} != {packet.id}:
            raise InputError("these answers belong to another page")
        stored = store_labels(self._store, located, annotator=annotator, at=datetime.now(UTC))
        names = {(one.label.case_id, one.label.criterion) for one in located}
        if stored.n_answered_before and names - {(one["case_id"], one["criterion"]) for one in own}:
            raise InputError("somebody else has answered this, and the first answer decides")
        if not packet.is_pairwise:
            update_run_status(self._store, packet.source, at=datetime.now(UTC))
        return {"n_labels": len(rows)}

    def agreement(self, request: Request) -> Response:
        packet = self._packet(request)
        labels = locate_labels([*self._rows(packet)])
        merged = merge_labels(resolve_labels(labels, self._store.packet), None)
        labelling = None
        if self._context.write_token is not None and merged.conflicts:
            labelling = report.packet_labelling(
                packet, self._store, answers=f"/api/label/{packet.id}"
            )
        document = report.agreement_document(merged, labelling)
        if not packet.is_pairwise and has_model_judges(self._store.run(packet.source)):
            # Who still labels must not see the scores of the judge.
            left = {one.id for one in packet.items if not one.repeats}
            left -= {one.label.case_id for one in labels}
            n_left = report.numbers.format_count(len(left), "item")
            words = f"The judge's scores are shown when all items have a label: {n_left} left."
            path = report.page_path("calibrations", packet.source)
            link = report.Cell("the judge and these labels", link=path)
            table = report.Table((report.Column("calibration", "text"),), ((link,),))
            judged = report.Notes((words,)) if left else table
            document = replace(document, blocks=(*document.blocks, judged))
        token, has_editor = self._context.write_token, self._context.edit_folder is not None
        return page_reply(document, has_editor=has_editor, write_token=token)

    def _packet(self, request: Request) -> LabelPacket:
        return self._store.packet(request.path_params["packet"])

    def _rows(self, packet: LabelPacket) -> Iterator[JsonObject]:
        """The stored labels of a packet's items, as its page sends them."""
        # Choices between pairs and second answers to an item are in the packet.
        items = {
            ItemKey(item.case_id, item.variant or "", item.repeat): item.id
            for item in packet.items
            if not (packet.is_pairwise or item.repeats)
        }
        # All at once: one by one, thousands would take a minute.
        for result in self._store.results(packet.source) if items else ():
            for row in label_rows([result] if result.key in items else []):
                if row["criterion"] in packet.criteria:
                    about: Any = row.get("metadata") or {}
                    about |= {PACKET_FIELD: packet.id}
                    about["labelled_at"] = about.pop("judged_at", None)
                    names = ("criterion", "annotator", "raw", "rationale")
                    known = {name: row[name] for name in names if name in row}
                    yield {"case_id": items[result.key], **known, "metadata": about}
        yield from (label.to_json() for label in packet.labels)


def labelling_routes(context: ViewContext) -> list[BaseRoute]:
    """The routes of labelling; answers are taken where the context has a token for writing."""
    pages = LabellingPages(context)
    return [
        Route("/label/{packet}", pages.page),
        Route("/label/{packet}/agreement", pages.agreement),
        write_route("/api/label/{packet}", pages.answer),
    ]
