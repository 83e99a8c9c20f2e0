"""Calls without TLS, to what tests start on this machine."""

from __future__ import annotations

import ssl

NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts no authority: for httpx clients that make no call over TLS, which otherwise load all authorities each time."""
