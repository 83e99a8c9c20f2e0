"""Whom and what the examples tell of, and when."""

from __future__ import annotations

from typing import Final


class Composed:
    """The example of a field that may be null, and shows its model instead."""


COMPOSED: Final = Composed()

ID = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b"
PROJECT, CLUSTER, OPERATION, ACCOUNT, TOKEN, PRICE = (f"{ID}{number}" for number in range(10, 16))
SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1"
FINGERPRINT = "SHA256:Jj1x1HgkPBu7Ym8J1Cz8ZkTtA0z3vC0RkCq4fO2cJ9E"
CREATED, ACTIVE, NOW = "2026-05-04T09:00:00Z", "2026-05-04T09:15:00Z", "2026-05-04T13:15:00Z"
HOUR, MONTH_BEGINS, MONTH_ENDS = "2026-05-04T10:00:00Z", "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"
