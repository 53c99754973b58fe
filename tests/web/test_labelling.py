"""Labelling in the viewer: each answer of an annotator is in the store when it was sent."""

from __future__ import annotations

from threading import Barrier, Thread
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.calibration import PacketChoice, draw_packet, draw_pair_packet, pair_source
from judgekit.evaluation import Run, label_rows
from judgekit.records import Label
from judgekit.store import RunStore
from judgekit.web import ViewContext, labelling_routes
from tests.evaluation.waiting import waiting_run
from tests.store.observing import START, key
from tests.web.conftest import Served, add_run, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.records import LabelPacket

KEYS = [key(case, "version-1") for case in ("a", "b")]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    opened = RunStore(tmp_path / "judgekit.db")
    waiting_run(opened, *KEYS)
    yield opened
    opened.close()


@pytest.fixture
def packet(store: RunStore) -> LabelPacket:
    made = draw_packet(Run(store.run("run-1"), store), PacketChoice(), at=START)
    store.add_packet(made)
    return made


@pytest.fixture
def served(store: RunStore) -> Iterator[Served]:
    context = ViewContext(store, "token", "write")
    with serving(context, labelling_routes(context)) as viewer:
        yield viewer


def label(packet: LabelPacket, place: int, raw: float | None, **own: object) -> dict[str, Any]:
    row = {"case_id": packet.items[place].id, "criterion": "accuracy", "annotator": "Ada"}
    return row | {"raw": raw, "metadata": {"packet": packet.id}} | own


def send(served: Served, packet: LabelPacket, *rows: dict[str, Any], annotator: str = "Ada") -> Any:
    posted = {"annotator": annotator, "labels": [*rows]}
    return served.post(f"/api/label/{packet.id}", posted).json()


def test_an_answer_is_stored_and_given_back(
    served: Served, packet: LabelPacket, store: RunStore
) -> None:
    send(served, packet, label(packet, 0, 4, rationale="Right."))
    (known,) = send(served, packet)["labels"]
    assert (known["case_id"], known["raw"], known["rationale"]) == (
        packet.items[0].id, 4, "Right.",
    )  # fmt: skip
    assert [len(result.judgments) for result in store.results("run-1")].count(1) == 1
    # The last answer completes the run, and without it the run waits again.
    send(served, packet, label(packet, 1, 3))
    assert store.run("run-1").status == "complete"
    send(served, packet, label(packet, 1, None))
    assert store.run("run-1").status == "waiting"


def test_an_answer_that_somebody_else_has_given_is_not_reported_as_stored(
    served: Served, packet: LabelPacket, store: RunStore
) -> None:
    send(served, packet, label(packet, 0, 4))
    late = label(packet, 0, 2, annotator="Ben")
    reply = served.post(f"/api/label/{packet.id}", {"annotator": "Ben", "labels": [late]})
    assert reply.status == 400
    assert "somebody else has answered this, and" in str(reply.json())
    assert [row["raw"] for row in label_rows(store.results("run-1"))] == [4]
    # Their own answer once more is no conflict.
    assert send(served, packet, label(packet, 0, 4)) == {"n_labels": 1}


def test_a_comment_that_is_deleted_is_not_stored_any_more(
    served: Served, packet: LabelPacket
) -> None:
    send(served, packet, label(packet, 0, 4, rationale="Ben wrote this."))
    send(served, packet, label(packet, 0, 4))
    (known,) = send(served, packet)["labels"]
    assert (known["raw"], known.get("rationale")) == (4, None)


def test_the_page_has_its_token_and_no_variant(served: Served, packet: LabelPacket) -> None:
    page = served.get(f"/label/{packet.id}").text
    assert '<meta name="judgekit-token" content="write">' in page
    assert f'data-answers="/api/label/{packet.id}"' in page
    assert "version-1" not in page
    assert "run-1" not in page


def test_agreement_has_a_page(served: Served, packet: LabelPacket) -> None:
    send(served, packet, label(packet, 0, 4))
    page = served.get(f"/label/{packet.id}/agreement").text
    assert "No item was labelled by two annotators: agreement is unknown." in page


def test_the_judge_is_shown_when_all_items_are_labelled(store: RunStore) -> None:
    add_run(store, "judged")
    made = draw_packet(Run(store.run("judged"), store), PacketChoice(), at=START)
    store.add_packet(made)
    context = ViewContext(store, "token", "write")
    with serving(context, labelling_routes(context)) as viewer:
        send(viewer, made, label(made, 0, 5))
        assert "when all items have a label: 2 items left" in agreement_of(viewer, made)
        send(viewer, made, label(made, 1, 4), label(made, 2, 2))
        assert 'href="/calibrations/judged"' in agreement_of(viewer, made)


def test_annotators_who_answer_at_the_same_moment_all_have_their_answer(store: RunStore) -> None:
    add_run(store, "judged")
    made = draw_packet(Run(store.run("judged"), store), PacketChoice(), at=START)
    store.add_packet(made)
    names = [f"annotator {n}" for n in range(6)]
    begin = Barrier(len(names))
    context = ViewContext(store, "token", "write")
    with serving(context, labelling_routes(context)) as viewer:

        def answer(name: str) -> None:
            begin.wait(30)
            send(viewer, made, label(made, 0, 4, annotator=name), annotator=name)

        each = [Thread(target=answer, args=(name,)) for name in names]
        for one in each:
            one.start()
        for one in each:
            one.join()
    assert sorted(str(row["annotator"]) for row in label_rows(store.results("judged"))) == names


def agreement_of(served: Served, packet: LabelPacket) -> str:
    return served.get(f"/label/{packet.id}/agreement").text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"labels": []}, "need an `annotator`"),
        ({"annotator": "Ada", "labels": "none"}, "a list of `labels`"),
        ({"annotator": "Ada", "labels": [{"case_id": "a", "raw": 1}]}, "belong to another page"),
        ({"annotator": "Ada", "labels": [{"raw": 1}]}, "case_id"),
    ],
)
def test_what_is_no_answer_is_refused(
    served: Served, packet: LabelPacket, body: dict[str, object], words: str
) -> None:
    reply = served.post(f"/api/label/{packet.id}", body)
    assert (reply.status, words in str(reply.json()["error"])) == (400, True)


def test_a_packet_that_is_not_known_is_not_found(served: Served, packet: LabelPacket) -> None:
    assert packet.id
    assert served.get("/label/p-none").status == 404


def test_without_the_token_nothing_is_stored(
    served: Served, packet: LabelPacket, store: RunStore
) -> None:
    body = {"annotator": "Ada", "labels": [label(packet, 0, 4)]}
    reply = served.post(f"/api/label/{packet.id}", body, x_judgekit_token="wrong")
    assert reply.status == 403
    assert not any(result.judgments for result in store.results("run-1"))


def paired(store: RunStore) -> LabelPacket:
    """A stored packet of pairs of a run with two variants."""
    run = waiting_run(store, *[key(c, v) for c in ("a", "b") for v in ("v1", "v2")], name="run-2")
    source = pair_source(store, run.id)
    packet = draw_pair_packet(source, PacketChoice(), at=START)
    store.add_packet(packet)
    return packet


def chosen(packet: LabelPacket, place: int, who: str, winner: str, **about: object) -> Any:
    return {
        "case_id": packet.items[place].id, "annotator": who, "winner": winner,
        "metadata": {"packet": packet.id, **about},
    }  # fmt: skip


def test_choices_between_pairs_are_stored_in_their_packet(served: Served, store: RunStore) -> None:
    packet = paired(store)
    assert "v1" not in served.get(f"/label/{packet.id}").text
    send(served, packet, chosen(packet, 0, "Ada", "second"))
    send(served, packet, chosen(packet, 0, "Ada", "first"))
    (known,) = send(served, packet)["labels"]
    assert (known["case_id"], known["winner"]) == (packet.items[0].id, "first")
    send(served, packet, chosen(packet, 0, "Ben", "second"))
    page = agreement_of(served, packet)
    assert "Ada first is better" in page
    assert f'data-answers="/api/label/{packet.id}"' in page
    decision = chosen(packet, 0, "Cy", "first", adjudicates=True)
    send(served, packet, decision)
    assert "decided by Cy first is better" in agreement_of(served, packet)
    body = {"annotator": "Ben", "labels": [decision | {"annotator": "Ben"}]}
    refused = served.post(f"/api/label/{packet.id}", body)
    assert (refused.status, "third annotator" in str(refused.json()["error"])) == (400, True)


def test_a_decision_of_a_conflict_is_a_judgment_of_its_own(store: RunStore) -> None:
    add_run(store, "judged")
    made = draw_packet(Run(store.run("judged"), store), PacketChoice(), at=START)
    store.add_packet(made)
    context = ViewContext(store, "token", "write")
    with serving(context, labelling_routes(context)) as viewer:
        for who, raw in (("Ada", 1), ("Ben", 5)):
            send(viewer, made, label(made, 0, raw, annotator=who))
        page = agreement_of(viewer, made)
        assert "Decide the conflicts" in page
        about = {"packet": made.id, "adjudicates": True}
        row = label(made, 0, 4, annotator="Cy", metadata=about)
        send(viewer, made, row)
        assert "decided by Cy 4" in agreement_of(viewer, made)
        refused = viewer.post(
            f"/api/label/{made.id}", {"annotator": "Ada", "labels": [row | {"annotator": "Ada"}]}
        )
        assert (refused.status, "third annotator" in str(refused.json()["error"])) == (400, True)
    rows = [*label_rows(store.results("judged"))]
    assert {row["annotator"]: row["raw"] for row in rows} == {"Ada": 1, "Ben": 5, "Cy": 4}
    assert [label.adjudicates for label in map(Label.model_validate, rows)] == [False, False, True]


def test_a_repeated_item_measures_its_annotator_and_is_no_judgment(
    served: Served, packet: LabelPacket, store: RunStore
) -> None:
    again = packet.items[0].model_copy(update={"id": "i-again", "repeats": packet.items[0].id})
    more = packet.model_copy(update={"id": "p-more", "items": (*packet.items, again)})
    store.add_packet(more)
    send(served, more, label(more, 0, 4), label(more, 2, 2))
    assert [row["raw"] for row in send(served, more)["labels"]] == [4, 2]
    assert sum(len(result.judgments) for result in store.results("run-1")) == 1
    assert "same answer again" in agreement_of(served, more)
