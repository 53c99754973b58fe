from __future__ import annotations

import socket

import pytest


def test_a_test_cannot_reach_the_network() -> None:
    with socket.socket() as outward, pytest.raises(Warning, match="allowed"):
        outward.connect(("192.0.2.1", 80))


def test_a_test_can_reach_this_machine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=5).close()
