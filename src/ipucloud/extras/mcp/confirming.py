"""Confirmations: a tool that costs or destroys shows a preview, and acts when it is called again with its code."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from mcp.server.mcpserver.exceptions import ToolError

from ipucloud.extras.mcp.results import Result

VALID_SECONDS = 600
AT_MOST = 100
"""Open confirmations; older ones are forgotten."""


class _Open(NamedTuple):
    what: str
    if_match: str | None
    until: float


@dataclass
class Confirmations:
    """The open confirmations of a session. Each is for one tool with the same arguments, and is used once."""

    clock: Callable[[], float] = time.monotonic
    _open: dict[str, _Open] = field(default_factory=dict)

    def preview(
        self, tool: str, arguments: Mapping[str, object], shown: Result, effect: str, *, if_match: str | None = None
    ) -> Result:
        """What the tool returns at first: nothing has happened yet. `if_match`: of the object that was looked at."""
        while len(self._open) >= AT_MOST:
            del self._open[next(iter(self._open))]
        code = secrets.token_hex(8)
        self._open[code] = _Open(_key(tool, arguments), if_match, self.clock() + VALID_SECONDS)
        return {
            "done": False,
            "effect": effect,
            "preview": shown,
            "confirmation": code,
            "next": f"Nothing has happened. Show this to the user; if they agree, call {tool} again within"
            f" {VALID_SECONDS // 60} minutes with the same arguments and this `confirmation`.",
        }

    def redeem(self, code: str, tool: str, arguments: Mapping[str, object]) -> str | None:
        """Use a confirmation up; returns its `if_match`. Raises ToolError if it is not for this."""
        pending = self._open.pop(code, None)
        if pending is None or self.clock() > pending.until:
            raise ToolError(
                f"This confirmation is unknown, used or too old. Call {tool} without one for a new preview."
            )
        if pending.what != _key(tool, arguments):
            raise ToolError(
                f"This confirmation is for another request. Call {tool} without one, for a preview of this request."
            )
        return pending.if_match


def _key(tool: str, arguments: Mapping[str, object]) -> str:
    return json.dumps([tool, arguments], sort_keys=True, default=str)
