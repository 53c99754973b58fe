"""The locks of Windows, on a fake of its C library that locks as it does: at a file's position."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import sys
import threading
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from judgekit import byte_lock

if TYPE_CHECKING:
    from pathlib import Path

FAR = 0xFFF_FFFF_FFFF_FFFF
"""The largest offset the cache locks: 60 bits, where Windows has 31."""


class FakeMsvcrt(ModuleType):
    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.held: dict[tuple[int, int], int] = {}

    def locking(self, descriptor: int, mode: int, n_bytes: int) -> None:
        at = os.lseek(descriptor, 0, os.SEEK_CUR)
        assert n_bytes == 1
        assert at < 2**31
        key = (os.fstat(descriptor).st_ino, at)
        free = self.held.get(key) is None if mode else self.held.get(key) == descriptor
        if not free:
            raise PermissionError(13, "Permission denied")
        if mode:
            self.held[key] = descriptor
        else:
            del self.held[key]


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module as Windows imports it."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", FakeMsvcrt())
    spec = importlib.util.spec_from_file_location("byte_lock_on_windows", byte_lock.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def two(tmp_path: Path) -> SimpleNamespace:
    flags = os.O_RDWR | os.O_CREAT
    one, other = (os.open(tmp_path / "locks", flags, 0o600) for _ in range(2))
    return SimpleNamespace(one=one, other=other)


def test_on_windows_a_byte_has_one_holder(windows: ModuleType, two: SimpleNamespace) -> None:
    assert windows.lock_byte(two.one, FAR)
    assert not windows.lock_byte(two.other, FAR)
    assert windows.lock_byte(two.other, 7)
    windows.unlock_byte(two.one, FAR)
    assert windows.lock_byte(two.other, FAR)
    windows.unlock_byte(two.one, 99)  # not locked


def test_on_windows_a_lock_is_waited_for(windows: ModuleType, two: SimpleNamespace) -> None:
    assert windows.lock_byte(two.one, 0)
    waiting = threading.Thread(target=windows.lock_byte, args=(two.other, 0), kwargs={"wait": True})
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    windows.unlock_byte(two.one, 0)
    waiting.join(10)
    assert not waiting.is_alive()
    assert not windows.lock_byte(two.one, 0)


def test_the_layout_of_linux_locks_is_used_on_linux_only(two: SimpleNamespace) -> None:
    assert byte_lock.lock_byte(two.one, FAR >> 1)
    assert not byte_lock.lock_byte(two.other, FAR >> 1)
    byte_lock.unlock_byte(two.one, FAR >> 1)
    assert byte_lock._HAS_FILE_LOCKS is (sys.platform == "linux")
    assert hasattr(fcntl, "lockf")
