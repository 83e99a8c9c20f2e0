"""The base of what a service command cannot go on after."""

from __future__ import annotations


class CommandError(Exception):
    """The message is a sentence for a human."""
