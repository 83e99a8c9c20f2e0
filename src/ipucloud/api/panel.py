"""The control panel: files that the package's build made, served beside the API under a strict policy.

Everything that is not a file is a page of the panel, which its script draws. Where there is no panel, `/` says why.
"""

from __future__ import annotations

import hashlib
import mimetypes
from functools import cached_property
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

import ipucloud

BUILT = Path(ipucloud.__file__).parent / "panel" / "static"
_INDEX, _WHY = "index.html", "why.txt"
_ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""Made by the build, the smallest first."""
_NOT_SERVED = {_WHY, "inputs.sha256"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class Panel:
    """The built files of a directory; they are read when first asked for, and kept."""

    def __init__(self, directory: Path = BUILT) -> None:
        self._directory = directory
        self._read: dict[Path, tuple[bytes, str]] = {}

    @cached_property
    def _names(self) -> frozenset[str]:
        """The files there are. Only these are ever opened, whatever a path says."""
        files = (path.relative_to(self._directory).as_posix() for path in self._directory.rglob("*") if path.is_file())
        return frozenset(files) - _NOT_SERVED

    @property
    def missing(self) -> str | None:
        """Why there is no panel, or None."""
        if _INDEX in self._names:
            return None
        why = self._directory / _WHY
        reason = why.read_text().strip() if why.is_file() else "it was not built"
        return f"This service has no control panel: {reason.rstrip('.')}. `./dev panel` builds it in a source checkout."

    def page(self, request: Request) -> Response:
        """The page that draws every path."""
        return self._file(request, _INDEX, vary="Accept, Accept-Encoding")

    def find(self, request: Request) -> Response | None:
        """The file of a path that no route has, or the page for a browser that opens it; None without either."""
        name = request.url.path.removeprefix("/")
        if self.missing or request.method != "GET" or name.startswith("v1/"):
            return None
        if name in self._names and not name.endswith(tuple(_ENCODINGS.values())):
            return self._file(request, name, vary="Accept-Encoding")
        if "." in name.rpartition("/")[2] or not wants_html(request):
            return None
        return self.page(request)

    def _file(self, request: Request, name: str, *, vary: str) -> Response:
        hashed = name.startswith("assets/")
        headers = _HEADERS | {
            "Cache-Control": "public, max-age=31536000, immutable" if hashed else "no-cache",
            "Vary": vary,
        }
        accepted = {each.strip() for each in request.headers.get("accept-encoding", "").lower().split(",")}
        encodings = (each for each in _ENCODINGS if each in accepted and f"{name}{_ENCODINGS[each]}" in self._names)
        encoding = next(encodings, None)
        if encoding is not None:
            headers["Content-Encoding"] = encoding
        body, headers["ETag"] = self._contents(self._directory / f"{name}{_ENCODINGS.get(encoding or '', '')}")
        if headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type=mimetypes.guess_type(name)[0] or "application/octet-stream")

    def _contents(self, path: Path) -> tuple[bytes, str]:
        if path not in self._read:
            body = path.read_bytes()
            self._read[path] = body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        return self._read[path]


def panel_of(request: Request) -> Panel:
    panel: Panel = request.app.state.panel
    return panel


def wants_html(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")
