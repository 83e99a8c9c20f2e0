"""How a caller of a secure V-IPU controller says who it is: two entries of a call's metadata. Our own choice."""

from __future__ import annotations

USER = "vipu-user"
ACCESS_KEY = "vipu-access-key"
SECRET_PREFIX = "vipu_"
"""What every access key begins with, so that a leaked one is recognised."""
