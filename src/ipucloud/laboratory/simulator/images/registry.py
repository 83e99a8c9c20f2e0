"""A registry of container images, by the OCI distribution specification 1.1.

A customer names the host, so connections go to public addresses only, over TLS, also those that the registry redirects
to; but for registries that the site was started with, which may be anywhere and speak plain HTTP.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import platform
import re
import socket
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

import httpcore
import httpx
from pydantic import BaseModel, Field, ValidationError

from ipucloud.egress.guard import ForbiddenAddressError, Guard, any_address
from ipucloud.egress.network import GuardedNetwork
from ipucloud.laboratory.simulator.images import ImageProblem
from ipucloud.wire.images import DOCKER_HUB, JobImage, Reference

SECONDS = 30.0
"""For a connection, and between two parts of an answer."""
LONGEST_DOCUMENT = 4 * 1024 * 1024
"""Bytes of a manifest, and of a token's answer; the specification lets registries refuse larger manifests."""
MOST_LAYERS = 200
_HOSTS = {DOCKER_HUB: "registry-1.docker.io"}
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_CHALLENGE = re.compile(r'([A-Za-z_]+)="([^"]*)"')
_UNREACHED = (
    httpx.TransportError,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
    socket.gaierror,
)

Shape = TypeVar("Shape", bound=BaseModel)
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class Blob(BaseModel):
    """A part of an image."""

    media_type: str = Field("", alias="mediaType")
    digest: Digest
    size: int = Field(ge=0)


class Manifest(BaseModel):
    """What an image consists of; `digest`: its own."""

    config: Blob
    layers: list[Blob] = Field(max_length=MOST_LAYERS)
    digest: str = ""

    @property
    def size(self) -> int:
        return self.config.size + sum(layer.size for layer in self.layers)


class _Platform(BaseModel):
    architecture: str = ""
    os: str = ""


class _Entry(BaseModel):
    digest: Digest
    platform: _Platform = _Platform()


class _Index(BaseModel):
    manifests: list[_Entry] = Field(max_length=1000)


class Registry:
    """One image at its registry."""

    def __init__(self, reference: Reference, image: JobImage, client: httpx.AsyncClient, scheme: str) -> None:
        self._reference = reference
        self._login = None if image.username is None else httpx.BasicAuth(image.username, image.password or "")
        self._client = client
        self._base = f"{scheme}://{_HOSTS.get(reference.host, reference.host)}/v2/{reference.path}"
        self._authorization: httpx.Auth | None = None

    @classmethod
    @asynccontextmanager
    async def of(cls, reference: Reference, image: JobImage, open_registries: Iterable[str]) -> AsyncIterator[Self]:
        """The registry of an image, with its connections. Every problem is raised as ImageProblem.

        `open_registries`, as HOST:PORT, may be anywhere and speak plain HTTP.
        """
        anywhere = frozenset(open_registries)
        async with httpx.AsyncClient(
            transport=_Transport(anywhere),
            headers={"Accept-Encoding": "identity"},  # digests are those of what is sent
            timeout=SECONDS,
            follow_redirects=True,
            max_redirects=5,
            trust_env=False,
        ) as client:
            try:
                yield cls(reference, image, client, "http" if reference.host in anywhere else "https")
            except ForbiddenAddressError as error:
                raise ImageProblem(
                    f"the registry {reference.host} is, or refers to, an address that is not public"
                ) from error
            except httpx.TooManyRedirects as error:
                raise ImageProblem(f"the registry {reference.host} redirects too often") from error
            except _UNREACHED as error:
                raise ImageProblem(
                    f"the registry {reference.host} is not reached, or has no valid certificate"
                ) from error

    async def manifest(self) -> Manifest:
        """What the image consists of, for this machine's architecture."""
        kind, digest, document = await self._document(self._reference.tag_or_digest)
        if kind in _INDEXES or "manifests" in document:
            architecture = _ARCHITECTURES.get(platform.machine(), platform.machine())
            index = _read(_Index, document)
            variants = [
                e for e in index.manifests if (e.platform.os, e.platform.architecture) == ("linux", architecture)
            ]
            if not variants:
                raise ImageProblem(f"there is no variant of it for linux/{architecture}")
            kind, digest, document = await self._document(variants[0].digest)
        if kind not in _MANIFESTS and "layers" not in document:
            raise ImageProblem(f"its manifest is of a kind that is not supported ({kind or 'none'})")
        return _read(Manifest, document).model_copy(update={"digest": digest})

    async def fetch(self, blob: Blob, target: Path) -> None:
        """Write a part into a file, once its size and digest were compared."""
        checksum, remaining = hashlib.sha256(), blob.size
        async with self._answer(f"/blobs/{blob.digest}", f"part {blob.digest} of the image") as answer:
            with await asyncio.to_thread(target.open, "xb") as file:
                async for piece in answer.aiter_raw():
                    remaining -= len(piece)
                    if remaining < 0:
                        break
                    checksum.update(piece)
                    file.write(piece)
        if remaining or f"sha256:{checksum.hexdigest()}" != blob.digest:
            raise ImageProblem(f"what the registry gave for {blob.digest} has another digest")

    async def _document(self, reference: str) -> tuple[str, str, dict[str, Any]]:
        """A manifest: its media type, its digest and itself."""
        accepted = {"Accept": ", ".join((*_INDEXES, *_MANIFESTS))}
        async with self._answer(f"/manifests/{reference}", f"image {self._named(reference)}", accepted) as answer:
            body = await _bounded(answer)
        digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
        if reference.startswith("sha256:") and digest != reference:
            raise ImageProblem(f"what the registry gave for {reference} has another digest")
        document = _json(body)
        return answer.headers.get("content-type", "").partition(";")[0], digest, document

    def _named(self, reference: str) -> str:
        return f"{self._reference.path}{'@' if reference.startswith('sha256:') else ':'}{reference}"

    @asynccontextmanager
    async def _answer(
        self, path: str, missing: str, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[httpx.Response]:
        """The answer to a GET, after a login if the registry asks for one. `missing`: what is not there at 404."""
        for last in (False, True):
            async with self._client.stream(
                "GET", self._base + path, headers=headers, auth=self._authorization
            ) as answer:
                if answer.status_code == httpx.codes.UNAUTHORIZED and not last:
                    challenge = answer.headers.get("www-authenticate", "")
                else:
                    self._check(answer, missing)
                    yield answer
                    return
            await self._log_in(challenge)

    def _check(self, answer: httpx.Response, missing: str) -> None:
        host = self._reference.host
        if answer.status_code in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
            raise self._refused()
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise ImageProblem(f"the registry {host} has no {missing}")
        if answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
            raise ImageProblem(f"the registry {host} has had too many requests; try again later, or with a login")
        if answer.status_code != httpx.codes.OK:
            raise ImageProblem(f"the registry {host} answers with status {answer.status_code}")

    def _refused(self) -> ImageProblem:
        where = f"{self._reference.path} at {self._reference.host}"
        if self._login is not None:
            return ImageProblem(f"the user name and password are not accepted for {where}")
        return ImageProblem(f"{where} is not public, or not there: give a user name and a password for the registry")

    async def _log_in(self, challenge: str) -> None:
        """Follow a challenge: a token of the server that it names, or the login itself."""
        kind, _, rest = challenge.partition(" ")
        named = {name.lower(): value for name, value in _CHALLENGE.findall(rest)}
        if kind.lower() == "basic" and self._login is not None:
            self._authorization = self._login
        elif kind.lower() == "bearer" and "realm" in named:
            query = {name: named[name] for name in ("service", "scope") if name in named}
            query.setdefault("scope", f"repository:{self._reference.path}:pull")
            try:
                url = httpx.URL(named["realm"]).copy_merge_params(query)
            except httpx.InvalidURL as error:
                raise self._refused() from error
            async with self._client.stream("GET", url, auth=self._login) as answer:
                if answer.status_code != httpx.codes.OK:
                    raise self._refused()
                said = _json(await _bounded(answer))
            self._authorization = _Bearer(str(said.get("token") or said.get("access_token") or ""))
        else:
            raise self._refused()


class _Bearer(httpx.Auth):
    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Any:
        request.headers["Authorization"] = f"Bearer {self._token.encode('ascii', 'ignore').decode()}"
        yield request


class _Network(GuardedNetwork):
    """Connections to public addresses, and to some registries wherever they are."""

    def __init__(self, anywhere: frozenset[str]) -> None:
        super().__init__(Guard())
        self._anywhere = anywhere
        self._open = GuardedNetwork(Guard(any_address))

    async def connect_tcp(self, host: str, port: int, *arguments: Any, **named: Any) -> httpcore.AsyncNetworkStream:
        if f"{host}:{port}" in self._anywhere:
            return await self._open.connect_tcp(host, port, *arguments, **named)
        return await super().connect_tcp(host, port, *arguments, **named)


class _Transport(httpx.AsyncBaseTransport):
    """HTTP through that network."""

    def __init__(self, anywhere: frozenset[str]) -> None:
        self._anywhere = anywhere
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False), network_backend=_Network(anywhere)
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        if url.scheme != "https" and f"{url.host}:{url.port or 80}" not in self._anywhere:
            raise ImageProblem(f"the registry refers to plain HTTP, at {url.host}")
        answer = await self._pool.handle_async_request(
            httpcore.Request(
                request.method,
                httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                extensions=request.extensions,
            )
        )
        return httpx.Response(answer.status, headers=answer.headers, stream=_Stream(answer))

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Stream(httpx.AsyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._answer.aiter_stream():
            yield piece

    async def aclose(self) -> None:
        await self._answer.aclose()


async def _bounded(answer: httpx.Response) -> bytes:
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > LONGEST_DOCUMENT:
            raise ImageProblem("the registry's answer is too long")
    return bytes(body)


def _json(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ImageProblem("the registry's answer is no JSON object")
    return document


def _read(shape: type[Shape], document: Mapping[str, Any]) -> Shape:
    try:
        return shape.model_validate(document)
    except ValidationError as error:
        raise ImageProblem("its manifest cannot be read") from error


def layers_of(manifest: Manifest) -> Sequence[Blob]:
    """Its layers, the lowest first. Raises ImageProblem for one that could not be unpacked."""
    for layer in manifest.layers:
        if "zstd" in layer.media_type:
            raise ImageProblem("its layers are compressed with zstd; only gzip is supported")
        if "foreign" in layer.media_type or "nondistributable" in layer.media_type:
            raise ImageProblem("it has layers that registries do not give")
    return manifest.layers
