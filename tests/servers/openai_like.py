"""The loopback server of most tests: a `ChaosServer` whose good replies are all the same text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.testing import ChaosServer
from tests.servers.answers import GOOD

if TYPE_CHECKING:
    from judgekit.testing.chaos import ServerScript


class OpenAILikeServer(ChaosServer):
    """A `ChaosServer` that gives `answers.GOOD`, whatever the schema of the request."""

    def __init__(self, script: ServerScript = None, **settings: Any) -> None:
        super().__init__(script, **{"reply": GOOD, **settings})
