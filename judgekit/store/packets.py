"""The labelling packets in a database: the keys to the items that annotators were given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from judgekit.errors import UnknownNameError
from judgekit.records import LabelPacket, name_text, read_record, time_text
from judgekit.store.database import Database
from judgekit.store.rows import record_row
from judgekit.store.schema import label_packets

if TYPE_CHECKING:
    from judgekit.store.rows import RowValues


class StoredPackets(Database):
    """Labelling packets in a database; see `Database`."""

    def add_packet(self, packet: LabelPacket) -> None:
        """Store what annotators are given, before they get it."""
        own: RowValues = {
            "id": name_text("packet id", packet.id),
            "made_at": time_text(packet.made_at),
        }
        with self.writing() as connection:
            connection.execute(insert(label_packets), record_row(label_packets, packet, **own))

    def packet(self, packet_id: str) -> LabelPacket:
        """The packet of this id.

        Raises:
            UnknownNameError: When there is none.
        """
        query = select(label_packets.c.json).where(label_packets.c.id == packet_id)
        with self.reading() as connection:
            text = connection.scalar(query)
            if text is None:
                newest = label_packets.c.made_at.desc()
                known = connection.scalars(select(label_packets.c.id).order_by(newest).limit(20))
                raise UnknownNameError("labelling packet", packet_id, list(known))
        return read_record(LabelPacket, text)
