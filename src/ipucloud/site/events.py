"""The site's notifications: Redfish events, sent by its EventService as server-sent events."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator

import httpx

from ipucloud.site.ports import SiteRefused, SiteUnknown
from ipucloud.wire.redfish import EVENTS

SILENCE_SECONDS = 60.0
"""A stream without a byte for so long is dead: a site sends comments in between."""
MAX_LINE = 65_536
_MEDIA_TYPE = "text/event-stream"
_ORIGIN = re.compile(rb'"OriginOfCondition"\s*:\s*\{\s*"@odata\.id"\s*:\s*"([^"]{1,1000})"')


async def read_events(client: httpx.AsyncClient, call_timeout: float) -> AsyncGenerator[str]:
    """First an empty name, once the site has answered; then, for each event, the last part of what it is about.

    Of an event only that is read, and only as a hint: what is true is read from the hardware. Raises SiteRefused when
    the site offers no events, SiteUnknown when the stream ends or breaks.
    """
    timeout = httpx.Timeout(call_timeout, read=SILENCE_SECONDS)
    try:
        async with client.stream("GET", EVENTS, headers={"Accept": _MEDIA_TYPE}, timeout=timeout) as response:
            if not response.is_success or not response.headers.get("content-type", "").startswith(_MEDIA_TYPE):
                raise SiteRefused(f"GET {EVENTS}: status {response.status_code}, and no stream of events")
            yield ""
            async for line in _lines(response):
                if line.startswith(b"data:"):
                    for origin in _ORIGIN.findall(line) or [b""]:
                        yield origin.decode(errors="replace").rpartition("/")[2]
    except httpx.HTTPError as error:
        raise SiteUnknown(f"GET {EVENTS}: the stream broke ({type(error).__name__})") from error
    raise SiteUnknown(f"GET {EVENTS}: the stream ended")


async def _lines(response: httpx.Response) -> AsyncGenerator[bytes]:
    rest = b""
    async for chunk in response.aiter_bytes():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line
        if len(rest) > MAX_LINE:
            raise SiteUnknown(f"GET {EVENTS}: a line is longer than {MAX_LINE} bytes")
