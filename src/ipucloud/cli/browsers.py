"""The browser of whoever runs a command."""

from __future__ import annotations

import webbrowser


def opened(address: str) -> bool:
    """Open an address; False when there is no browser."""
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False
