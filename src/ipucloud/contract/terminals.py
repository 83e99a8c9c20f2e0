"""What a login to a Poplar server is for, and what ends it."""

from __future__ import annotations

from typing import Literal, TypeAlias

LoginPurpose: TypeAlias = Literal["terminal", "services"]
TerminalEnd: TypeAlias = Literal["shell", "client", "idle", "time_limit", "access", "server", "service"]
"""The shell ended; the browser left; nobody typed; it was open for too long; the caller may not log in any more; the
server did not let it in or went away; the API process stopped or was lost."""
