"""A registry of container images in this process, and a small image that runs anywhere: this machine's shell.

with running_registry() as registry:
    registry.push("tools:1", [shell_layer()], {"Env": ["GREETING=hello"]})
    registry.reference("tools:1")  # 127.0.0.1:40123/tools:1
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from pathlib import Path

from tests.support.serving import Quiet, serving

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
TOKEN = "token-of-the-registry"
Content = str | bytes | tarfile.TarInfo
"""Of a file, or an entry as it is."""


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def layer(files: Mapping[str, Content]) -> bytes:
    """A compressed layer with these files, in this order."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            if isinstance(content, tarfile.TarInfo):
                content.name = name
                archive.addfile(content)
                continue
            data = content.encode() if isinstance(content, str) else content
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(data), 0o755, 1_600_000_000
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), mtime=0)


def link(target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    entry = tarfile.TarInfo()
    entry.type, entry.linkname = kind, target
    return entry


def files_at(paths: Mapping[str, str]) -> dict[str, Content]:
    """Files of this machine at places in an image; libraries also under the shorter names that programs ask for."""
    contents: dict[str, Content] = {}
    for place, path in paths.items():
        name = place.lstrip("/")
        contents[name] = Path(path).read_bytes()
        while (shorter := re.sub(r"([.]so[.].*)[.]\d+$", r"\1", name)) != name:
            contents.setdefault(shorter, link(f"/{place.lstrip('/')}"))
            name = shorter
    return contents


@cache
def shell_layer() -> bytes:
    """This machine's shell, with the libraries that it loads, at their places."""
    script = 'while read -r line; do echo "$line"; done < /proc/$$/maps'
    maps = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True, timeout=60).stdout
    loaded = {path for path in re.findall(r"(/\S+\.so\S*)$", maps, re.MULTILINE) if Path(path).is_file()}
    shell = Path("/bin/sh").read_bytes()
    loader = re.search(rb"(/lib[^\0]*/ld-[^\0]+)\0", shell)
    needed = {loader[1].decode()} if loader else set()
    return layer({"bin/sh": shell} | files_at({path: path for path in sorted(loaded | needed)}))


PYTHON_VARIABLES = ("PATH=/usr/python/bin:/usr/bin:/bin", "LD_LIBRARY_PATH=/usr/python/lib")
_ASK = """
import encodings.idna, http.server, json, os, re, signal, socket, sys
files = [module.__file__ for module in list(sys.modules.values()) if getattr(module, "__file__", None)]
files += re.findall(r"(/\\S+[.]so\\S*)$", open("/proc/self/maps").read(), re.M)
print(json.dumps(sorted(set(files))))
"""


@cache
def python_layer() -> bytes:
    """This machine's Python with what `http.server` needs, and `env`; to be used with PYTHON_VARIABLES."""
    python, prefix = Path(sys.executable).resolve(), str(Path(sys.base_prefix).resolve())
    listing = subprocess.run([python, "-ISc", _ASK], capture_output=True, text=True, check=True, timeout=60)
    moved = prefix != "/usr"
    there = {(path.replace(prefix, "/usr/python", 1) if moved else path): path for path in json.loads(listing.stdout)}
    there |= {"/usr/python/bin/python3" if moved else "/usr/bin/python3": str(python), "/usr/bin/env": "/usr/bin/env"}
    return layer(files_at(there))


@dataclass
class Registry:
    """What it has. `login`: a name and a password that it wants, if any. `requests`: methods and paths, in order."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    manifests: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    login: tuple[str, str] | None = None
    requests: list[str] = field(default_factory=list)
    host: str = ""
    may_answer: threading.Event = field(default_factory=threading.Event)
    """Whether parts of images are answered."""

    def reference(self, image: str) -> str:
        return f"{self.host}/{image}"

    def put(self, data: bytes, kind: str) -> dict[str, object]:
        """Keep a part; answers its descriptor."""
        self.blobs[digest_of(data)] = data
        return {"mediaType": kind, "digest": digest_of(data), "size": len(data)}

    def push(
        self, image: str, layers: Sequence[bytes], config: Mapping[str, object] | None = None, *, kind: str = LAYER
    ) -> str:
        """Keep an image in an index of this architecture and another; answers the digest of its manifest."""
        document = {"architecture": "amd64", "os": "linux", "config": config or {}}
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": self.put(json.dumps(document).encode(), CONFIG),
            "layers": [self.put(each, kind) for each in layers],
        }
        name = image.partition(":")[0]
        packed = json.dumps(manifest).encode()
        self.manifests[f"{name}:{digest_of(packed)}"] = (MANIFEST, packed)
        of = {"mediaType": MANIFEST, "digest": digest_of(packed), "size": len(packed)}
        entries = [
            of | {"digest": digest_of(b"other"), "platform": {"os": "linux", "architecture": "s390x"}},
            *(of | {"platform": {"os": "linux", "architecture": each}} for each in ("amd64", "arm64")),
        ]
        index = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}).encode()
        self.manifests[image] = (INDEX, index)
        return digest_of(packed)


class _Handler(Quiet):
    registry: Registry
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # noqa: N802  # the name http.server calls
        self.registry.requests.append(self.path)
        path, _, query = self.path.partition("?")
        if matched := re.fullmatch(r"/v2/moved/(https?)/.*", path):
            self._say(HTTPStatus.TEMPORARY_REDIRECT, b"", {"Location": f"{matched[1]}://localhost:1/"})
        elif path == "/token":
            self._token(query)
        elif self.registry.login is not None and self.headers["Authorization"] != f"Bearer {TOKEN}":
            realm = f'Bearer realm="http://{self.registry.host}/token",service="tests"'
            self._say(HTTPStatus.UNAUTHORIZED, b"{}", {"WWW-Authenticate": realm})
        elif matched := re.fullmatch(r"/v2/(.+)/manifests/(.+)", path):
            kind, data = self.registry.manifests.get(f"{matched[1]}:{matched[2]}", ("", b""))
            self._say(HTTPStatus.OK if data else HTTPStatus.NOT_FOUND, data, {"Content-Type": kind})
        elif matched := re.fullmatch(r"/v2/.+/blobs/(.+)", path):
            self.registry.may_answer.wait()
            data = self.registry.blobs.get(matched[1], b"")
            self._say(HTTPStatus.OK if data else HTTPStatus.NOT_FOUND, data)
        else:
            self._say(HTTPStatus.NOT_FOUND, b"")

    def _token(self, query: str) -> None:
        assert "service=tests" in query, query
        name, password = self.registry.login or ("", "")
        expected = base64.b64encode(f"{name}:{password}".encode()).decode()
        right = self.headers["Authorization"] == f"Basic {expected}"
        answer = json.dumps({"token": TOKEN}).encode()
        self._say(HTTPStatus.OK if right else HTTPStatus.UNAUTHORIZED, answer if right else b"{}")

    def _say(self, status: HTTPStatus, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # whoever asked is gone, as it may be
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # socketserver's own types


@contextmanager
def running_registry() -> Iterator[Registry]:
    """A registry at a port of the loopback address, over plain HTTP."""
    registry = Registry()
    registry.may_answer.set()
    handler = type("Handler", (_Handler,), {"registry": registry})
    with serving(handler, _Server) as registry.host:
        try:
            yield registry
        finally:
            registry.may_answer.set()
