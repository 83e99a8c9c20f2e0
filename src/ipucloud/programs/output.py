"""What programs write, as text."""

from __future__ import annotations


def text_of(data: bytes, *, final: bool) -> tuple[int, str]:
    """How many bytes were taken, and their text; a character that is cut off at the end is left to the next part."""
    chunk = data
    if not final:
        for back in range(1, min(4, len(data)) + 1):
            byte = data[-back]
            if byte & 0xC0 != 0x80:
                width = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
                chunk = data[:-back] if width > back else data
                break
    return len(chunk), chunk.decode(errors="replace").replace("\0", "\ufffd")
