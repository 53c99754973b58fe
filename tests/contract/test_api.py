"""The names, signatures, fields and methods that Python users write."""

from __future__ import annotations

import importlib

import pytest

import judgekit as jk
from judgekit import errors
from judgekit.models import request
from judgekit.stats import agreement, intervals, paired
from tests.contract.interface import described, signature
from tests.contract.pinning import Pins, read

STATISTICS = sorted(read("statistics"))
REQUEST_NAMES = ("ModelReply", "ModelRequest")


def test_the_public_names_are_as_pinned(pins: Pins) -> None:
    pins.check("api", "__all__", sorted(jk.__all__))


@pytest.mark.parametrize("name", sorted(set(jk.__all__) - {"__version__"}))
def test_a_public_name_offers_what_is_pinned(name: str, pins: Pins) -> None:
    pins.check("api", name, described(getattr(jk, name)))


@pytest.mark.parametrize("name", REQUEST_NAMES)
def test_requests_and_replies_are_importable_from_their_module(name: str) -> None:
    assert getattr(request, name) is getattr(jk, name)


def test_every_error_is_importable_from_the_module_of_errors(pins: Pins) -> None:
    found = {name for name in jk.__all__ if name.endswith("Error")}
    assert all(getattr(errors, name) is getattr(jk, name) for name in found)
    pins.check("errors", "names", sorted(found))


@pytest.mark.parametrize("name", STATISTICS)
def test_a_statistic_is_called_as_pinned(name: str, pins: Pins) -> None:
    module, _, function = name.rpartition(".")
    home = importlib.import_module(f"judgekit.stats.{module}")
    pins.check("statistics", name, signature(getattr(home, function)))


def test_results_with_an_interval_have_the_common_fields(pins: Pins) -> None:
    results = {
        "agreement.cohen_kappa": agreement.cohen_kappa([1, 2, 1, 2], [1, 2, 2, 2], labels=[1, 2]),
        "intervals.proportion": intervals.proportion(3, 4),
        "paired.paired_difference": paired.paired_difference([0.5, 0.7, 0.9], [0.4, 0.7, 0.6]),
    }
    for name, result in results.items():
        fields = sorted(field for field in dir(result) if not field.startswith("_"))
        assert {"value", "low", "high", "level", "n", "n_missing", "method"} <= set(fields)
        pins.check("statistics_results", name, fields)
