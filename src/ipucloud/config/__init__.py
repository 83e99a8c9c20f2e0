"""The settings of a process."""

from __future__ import annotations

from ipucloud.config.providers import OidcProvider
from ipucloud.config.settings import Settings

__all__ = ["OidcProvider", "Settings"]
