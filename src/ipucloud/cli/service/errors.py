"""Base of errors that end a service command."""

from __future__ import annotations


class CommandError(Exception):
    """The message is human-readable."""
