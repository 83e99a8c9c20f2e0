"""`ipucloud request` and `ipucloud token`: the API for scripts, with the token in use."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4

import typer

from ipucloud.cli.exits import Exit, exit_of_status
from ipucloud.cli.output import write_foreign, write_json
from ipucloud.cli.session import Session, customer_command
from ipucloud.client.errors import UsageError
from ipucloud.client.exchange import Received

app = typer.Typer()
token_app = typer.Typer()

HELD_SECONDS = 60.0
"""The longest that the API waits before it answers: for an operation, or for a service's program."""
_PROXY = re.compile(r"/v1/projects/[^/]+/clusters/[^/]+/services/[^/]+/proxy(/|\?|$)")
_KEYED = {"POST", "PATCH"}
_SAFE = {"GET", "HEAD"}


@dataclass(frozen=True)
class Sending:
    """A request as the command line has it; `path` with its query."""

    method: str
    path: str
    headers: dict[str, str]
    content: bytes | None

    def received(self, session: Session, path: str) -> Received:
        # A service's program need not know the idempotency key, and might do everything twice.
        repeat = self.method in _SAFE or not _PROXY.match(path)
        return session.client.send(
            self.method, path, headers=self.headers, content=self.content, hold=HELD_SECONDS, repeat=repeat
        )


@customer_command(token_app, "token")
def token(session: Session) -> None:
    """Print the token in use, for scripts. Anyone who has it can do what you can."""
    if session.as_json:
        write_json({"token": session.token})
    else:
        typer.echo(session.token)


@customer_command(
    app,
    "request",
    "/v1/whoami",
    "'/v1/projects/{project}/clusters?state=active' --paginate",
    'PATCH /v1/projects/{project}/clusters/bert -F \'tags={"team": "nlp"}\'',
    "/v1/projects/{project}/clusters/bert/services/chat/proxy/v1/completions -f prompt=Hello",
)
def request(
    session: Session,
    words: Annotated[
        list[str],
        typer.Argument(metavar="[METHOD] PATH", help="GET, or POST with a body, unless given; the path begins with /."),
    ],
    *,
    texts: Annotated[
        list[str] | None, typer.Option("--raw-field", "-f", metavar="KEY=TEXT", help="A field with a text; repeatable.")
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option("--field", "-F", metavar="KEY=JSON", help="A field with JSON, or the text of @FILE (@-)."),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--input", metavar="FILE", help="File with the body; - for stdin.")
    ] = None,
    headers: Annotated[
        list[str] | None, typer.Option("--header", "-H", metavar="NAME:VALUE", help="Send this header; repeatable.")
    ] = None,
    include: Annotated[
        bool, typer.Option("--include", "-i", help="Print the answer's status and headers too.")
    ] = False,
    paginate: Annotated[
        bool, typer.Option("--paginate", help="Read the whole list, and print one JSON array.")
    ] = False,
) -> None:
    """Send a request to the API, and print the answer.

    Fields are the body, or with GET, HEAD and --input the query. `{project}` in the path is the project in use. POST
    and PATCH get an idempotency key. What the API refuses is printed on standard error. No redirect is followed.
    """
    fields = [*map(_text_field, texts or ()), *map(_json_field, values or ())]
    sending = _sending(words, fields, source, headers or ())
    if not paginate:
        _show(sending.received(session, sending.path), include=include)
    elif sending.method != "GET" or include:
        raise UsageError("--paginate is for GET, and without --include.")
    else:
        write_json([*_items(session, sending)])


def _sending(words: list[str], fields: list[tuple[str, Any]], source: str | None, headers: Iterable[str]) -> Sending:
    *methods, path = words
    if len(methods) > 1:
        raise UsageError("Give a method and a path, such as GET /v1/whoami, or only a path.")
    content = None if source is None else _read(source)
    method = methods[0].upper() if methods else "POST" if fields or content is not None else "GET"
    if fields and (method in _SAFE or content is not None):
        query = [
            (key, _in_query(each)) for key, value in fields for each in (value if isinstance(value, list) else [value])
        ]
        path += ("&" if "?" in path else "?") + urlencode(query)
    elif fields:
        content = json.dumps(dict(fields)).encode()
    own = dict(map(_header, headers))
    if method in _KEYED and "idempotency-key" not in own:
        own["idempotency-key"] = str(uuid4())
    return Sending(method, path, own, content)


def _items(session: Session, sending: Sending) -> Iterator[object]:
    """Every item of a list. Ends the command when a page is refused."""
    path, _, query = sending.path.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    while True:
        received = sending.received(session, f"{path}?{urlencode(pairs)}" if pairs else path)
        if received.status >= HTTPStatus.MULTIPLE_CHOICES:
            _show(received, include=False)
        page = _document(received)
        if not isinstance(page, dict) or not isinstance(page.get("items"), list):
            raise UsageError(f"{path} is no list: leave out --paginate.")
        yield from page["items"]
        if page.get("next_cursor") is None:
            return
        pairs = [each for each in pairs if each[0] != "cursor"] + [("cursor", page["next_cursor"])]


def _show(received: Received, *, include: bool) -> None:
    """Print an answer, on standard error if it is none of success, and end the command with its exit status then."""
    status = exit_of_status(received.status)
    stream = sys.stderr if status else sys.stdout
    if include:
        head = [f"HTTP {received.status}", *(f"{name}: {value}" for name, value in received.headers.items())]
        write_foreign("\n".join([*head, "", ""]), stream)
    if not stream.isatty():
        stream.flush()
        stream.buffer.write(received.content)
        stream.flush()
    elif received.content:
        document = _document(received)
        text = (
            received.content.decode(errors="replace")
            if document is None
            else json.dumps(document, ensure_ascii=False, indent=2)
        )
        write_foreign(text.removesuffix("\n") + "\n", stream)
    if status is not Exit.OK:
        if not received.content:
            leads = f", which leads to {received.headers['location']}" if "location" in received.headers else ""
            write_foreign(f"ipucloud: The answer is status {received.status}{leads}.\n", stream)
        raise typer.Exit(status)


def _document(received: Received) -> Any:
    """The answer if it is JSON, else None."""
    try:
        return json.loads(received.content)
    except ValueError:
        return None


def _text_field(option: str) -> tuple[str, str]:
    key, equals, value = option.partition("=")
    if not key or not equals:
        raise UsageError(f"Write the field {option!r} as KEY=VALUE.")
    return key, value


def _json_field(option: str) -> tuple[str, Any]:
    key, value = _text_field(option)
    try:
        return key, _read(value[1:]).decode() if value.startswith("@") else json.loads(value)
    except ValueError as error:
        raise UsageError(f"The field {key} is neither JSON nor the text of @FILE. For a text: -f {key}=…") from error


def _header(option: str) -> tuple[str, str]:
    name, colon, value = option.partition(":")
    if not colon:
        raise UsageError(f"Write the header {option!r} as NAME:VALUE.")
    return name.strip().lower(), value.strip()


def _in_query(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _read(source: str) -> bytes:
    """The content of a file, or of standard input for `-`. Raises UsageError."""
    try:
        return sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror}.") from error
