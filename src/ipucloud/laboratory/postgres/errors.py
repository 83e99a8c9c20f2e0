from __future__ import annotations

from ipucloud.cli.service.failures import CommandError


class EmbeddedPostgresError(CommandError):
    """The embedded server cannot do what was asked; the message says why."""
