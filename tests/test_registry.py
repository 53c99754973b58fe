from __future__ import annotations

import pytest

from judgekit.errors import InputError, UnknownNameError
from judgekit.registry import Registry, RegistryEntry, declared_entries


def test_an_entry_loads_what_its_target_names() -> None:
    assert RegistryEntry("join", "os.path:join").load() is __import__("os").path.join


def test_an_entry_may_hold_the_thing_itself() -> None:
    assert Registry("assertion", [RegistryEntry("acme.short", len)]).load("acme.short") is len


def test_an_unknown_name_lists_the_near_ones() -> None:
    registry = Registry("assertion", [RegistryEntry("output.contains", len)])
    with pytest.raises(UnknownNameError, match=r"did you mean output.contains"):
        registry.find("output.contain")


def test_two_entries_of_one_name_are_an_error_that_says_whose_they_are() -> None:
    with pytest.raises(InputError, match="one of judgekit, one of acme-checks"):
        Registry("assertion", [RegistryEntry("a.b", len), RegistryEntry("a.b", max, "acme-checks")])


def test_strangers_are_read_on_first_need_and_once() -> None:
    calls = []

    def strangers() -> list[RegistryEntry]:
        calls.append(1)
        return [RegistryEntry("acme.short", len, "acme-checks")]

    registry = Registry("assertion", [RegistryEntry("own", max)], plugins=strangers)
    assert registry.find("own").source == "judgekit"
    assert not calls
    assert registry["acme.short"].source == "acme-checks"
    assert sorted(registry) == ["acme.short", "own"]
    assert len(registry) == 2
    assert calls == [1]


def test_a_stranger_cannot_take_the_name_of_a_built_in() -> None:
    registry = Registry(
        "assertion",
        [RegistryEntry("own", max)],
        plugins=lambda: [RegistryEntry("own", len, "acme-checks")],
    )
    with pytest.raises(InputError, match="two assertions are called 'own'"):
        registry.find("other")


def test_a_module_that_breaks_on_import_names_its_package() -> None:
    entry = RegistryEntry("acme.x", "no_such_module:x", "acme-checks")
    with pytest.raises(InputError, match=r"'acme.x' of acme-checks cannot be loaded") as caught:
        entry.load()
    assert caught.value.hint == "repair or reinstall acme-checks"


def test_a_registry_with_more_is_a_new_one() -> None:
    registry = Registry("assertion", [RegistryEntry("own", max)])
    more = registry.plus(RegistryEntry("acme.short", len))
    assert "acme.short" in more
    assert "acme.short" not in registry
    assert more["own"] is registry["own"]


def test_declared_entries_name_their_package() -> None:
    found = {entry.name: entry for entry in declared_entries("console_scripts")}
    assert found["judgekit"].source == "judgekit-llm"
    assert declared_entries("judgekit.no_such_group") == ()
