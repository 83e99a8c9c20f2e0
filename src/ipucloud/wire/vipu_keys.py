"""Metadata of calls to a V-IPU controller: who calls, and about which allocation. Our own choice."""

from __future__ import annotations

USER = "vipu-user"
ACCESS_KEY = "vipu-access-key"
ALLOCATION = "vipu-allocation"
"""The allocation that a call of the user service at the administration endpoint is about."""
SECRET_PREFIX = "vipu_"
"""What every access key begins with, so that a leaked one is recognised."""
