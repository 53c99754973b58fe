"""What holds for every test: no network but loopback, no keys, and repeatable property tests."""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("ci")

_SETTINGS = re.compile(
    r"(JUDGEKIT|LITELLM|OPENAI|ANTHROPIC)_\w+|\w+_API_(KEY|BASE)|(\w+_)?proxy"
    r"|CI|GITHUB_ACTIONS|GITLAB_CI|TF_BUILD|CIRCLECI|BUILDKITE|JENKINS_URL",
    re.IGNORECASE,
)
"""Variables of a machine that judgekit, or what it asks through, listens to."""

_FOR_TESTS = re.compile(r"JUDGEKIT_(DATA|LOCAL_\w+)")
"""Those that tests listen to."""

_MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder there that only its user can read
"""Where Linux keeps files in memory; in a container there is often too little of it."""

_LARGEST_RUN = 2 << 30
"""Bytes that a run of all tests leaves behind, several times over."""


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Close every socket but those to this machine, and forget the machine's settings."""
    config.option.allow_hosts = "127.0.0.1"
    config.option.allow_unix_socket = True
    for name in tuple(os.environ):
        if _SETTINGS.fullmatch(name) and not _FOR_TESTS.fullmatch(name):
            del os.environ[name]
    # Databases are written to disk at each commit; in memory that takes a tenth of the time.
    if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _LARGEST_RUN:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))
    # `nohup make test &` starts with SIGINT ignored, and every process below inherits that: a test
    # that presses Ctrl-C would wait for ever.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Count lines once in each worker, so that `no_cover` stops all counting.

    pytest-cov starts counting when its options are read, and again for the worker, where the first
    goes on whenever the second pauses.
    """
    coverage = session.config.pluginmanager.get_plugin("_cov")
    if coverage is not None and hasattr(session.config, "workerinput"):
        coverage.cov_controller.cov.stop()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Let no collection of garbage look again at what stays: the modules and the tests.

    They are millions of objects, and a session of pytest in a test collects five times at its end.
    """
    gc.collect()
    gc.freeze()
