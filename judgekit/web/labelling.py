"""The routes on which annotators label a run in the viewer; each answer is stored at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from judgekit.calibration import PACKET_FIELD, ResolvedLabels, merge_labels, resolve_labels
from judgekit.datasets import locate_labels
from judgekit.errors import InputError
from judgekit.evaluation import has_model_judges, label_rows, record_labels, update_run_status
from judgekit.records import ItemKey
from judgekit.report import (
    Cell,
    Column,
    Notes,
    Table,
    agreement_document,
    numbers,
    page_path,
    render_label_page,
    run_label_task,
)
from judgekit.web.replies import page_reply, write_route

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from judgekit.records import JsonObject, LabelPacket
    from judgekit.web.replies import ViewContext


class LabellingPages:
    """The page of a packet, its answers and how far annotators agree."""

    def __init__(self, context: ViewContext) -> None:
        self._context = context
        self._store = context.store

    def page(self, request: Request) -> Response:
        packet = self._packet(request)
        run = self._store.run(packet.source)
        task = run_label_task(packet, run, self._store.results(run.id))
        address = f"/api/label/{packet.id}"
        token = self._context.write_token
        page = render_label_page(task, assets="/assets/", answers=address, write_token=token)
        return HTMLResponse(page)

    def answer(self, request: Request, posted: dict[str, object]) -> object:
        """Store new answers of an annotator; without any, give those that are stored."""
        packet = self._packet(request)
        rows, annotator = posted.get("labels"), posted.get("annotator")
        if not isinstance(rows, list) or not isinstance(annotator, str) or not annotator.strip():
            raise InputError("the answers need an `annotator` and a list of `labels`")
        if rows:
            found = resolve_labels(locate_labels(rows), lambda: self._store)
            if found.packets != (packet,):
                raise InputError("these answers belong to another page")
            run, now = self._store.run(packet.source), datetime.now(UTC)
            # A second answer to an item that is shown again measures its annotator, not the output.
            record_labels(self._store, run, found.labels, annotator=annotator, at=now)
            update_run_status(self._store, run.id, at=now)
            return {"n_labels": len(rows)}
        return {"labels": [*self._stored(packet, annotator)]}

    def agreement(self, request: Request) -> Response:
        packet = self._packet(request)
        places = {(item.case_id, item.variant, item.repeat) for item in packet.items}
        rows = [
            row
            for row in label_rows(self._store.results(packet.source))
            if (row["case_id"], row["variant"], row.get("repeat", 0)) in places
        ]
        labels = tuple(locate_labels(rows))
        merged = merge_labels(ResolvedLabels(labels, (), (packet,), None), None)
        document = agreement_document(merged)
        run = self._store.run(packet.source)
        if not has_model_judges(run):
            return page_reply(document)
        labelled = {(row["case_id"], row["variant"], row.get("repeat", 0)) for row in rows}
        # Who still labels must not see the scores of the judge.
        link = Cell("the judge and these labels", link=page_path("calibrations", run.id))
        n_open = numbers.format_count(len(places - labelled), "item")
        table = Table((Column("calibration", "text"),), ((link,),))
        waiting = Notes(
            (f"The judge's scores are shown when all items have a label: {n_open} left.",)
        )
        judged = waiting if places - labelled else table
        return page_reply(replace(document, blocks=(*document.blocks, judged)))

    def _packet(self, request: Request) -> LabelPacket:
        return self._store.packet(request.path_params["packet"])

    def _stored(self, packet: LabelPacket, annotator: str) -> Iterator[JsonObject]:
        for item in packet.items:
            key = ItemKey(item.case_id, item.variant or "", item.repeat)
            result = None if item.repeats else self._store.result(packet.source, key)
            for row in label_rows([result] if result else []):
                if row["annotator"] == annotator and row["criterion"] in packet.criteria:
                    about = row.get("metadata")
                    at = about.get("judged_at") if isinstance(about, dict) else None
                    yield {
                        "case_id": item.id,
                        **{name: row[name] for name in ("criterion", "annotator", "raw")},
                        "rationale": row.get("rationale"),
                        "metadata": {PACKET_FIELD: packet.id, "labelled_at": at},
                    }


def labelling_routes(context: ViewContext) -> list[BaseRoute]:
    """The routes of labelling; answers are taken where the context has a token for writing."""
    pages = LabellingPages(context)
    return [
        Route("/label/{packet}", pages.page),
        Route("/label/{packet}/agreement", pages.agreement),
        write_route("/api/label/{packet}", pages.answer),
    ]
