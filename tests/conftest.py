"""What holds for every test: no network but loopback, and repeatable property tests."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("ci")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Close every socket but those to this machine."""
    config.option.allow_hosts = "127.0.0.1"
    config.option.allow_unix_socket = True
