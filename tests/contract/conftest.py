"""What users rely on, pinned through the public surface only; `--update-pinned` pins it anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.pinning import Pins
from tests.contract.terminal import steady_surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer to write what is pinned anew, where a change is meant.

    It is known where the folder is named: `python -m pytest tests/contract --update-pinned`.
    """
    parser.addoption(
        "--update-pinned",
        action="store_true",
        default=False,
        help="write tests/contract/pinned anew from what the code does now",
    )


@pytest.fixture
def pins(request: pytest.FixtureRequest) -> Pins:
    """What is pinned; a difference fails, or is written with `--update-pinned`."""
    return Pins(updates=bool(request.config.getoption("--update-pinned", default=False)))


@pytest.fixture(autouse=True, scope="session")
def _steady() -> Iterator[None]:
    """The same width, colours and settings wherever the tests run."""
    with steady_surroundings():
        yield
