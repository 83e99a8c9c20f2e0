"""What the text of a variable must be, and what it becomes. Errors repeat no part of it."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

import psycopg
import sqlalchemy as sa
from psycopg.conninfo import conninfo_to_dict
from pydantic import AfterValidator, BeforeValidator, Field, IPvAnyNetwork, SecretStr
from pydantic_settings import NoDecode

from ipucloud.kernel.money import MINOR_UNITS
from ipucloud.kernel.sealing import SealingError, read_keys

_HOST = re.compile(r"[\w.:%-]+")
_PORT = re.compile(r"0*[1-9][0-9]{0,4}", re.ASCII)
VISIBLE = re.compile(r"[!-~]*")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def _postgresql_url(value: SecretStr) -> SecretStr:
    """A URL that both libpq and SQLAlchemy can read. Errors repeat no part of it."""
    text = value.get_secret_value()
    if not text.startswith(("postgresql://", "postgres://")):
        raise ValueError("it must be a PostgreSQL URL: postgresql://USER:PASSWORD@HOST:PORT/DATABASE")
    try:
        parts = conninfo_to_dict(text)
        sa.make_url(text)
    except (psycopg.ProgrammingError, sa.exc.ArgumentError, ValueError):
        parts = {"host": " "}
    hosts, ports = (str(parts.get(name, "")).split(",") for name in ("host", "port"))
    if not all(map(_is_host, hosts)) or not all(map(_is_port, ports)):
        raise ValueError(
            "it cannot be read as postgresql://USER:PASSWORD@HOST:PORT/DATABASE. In names and passwords write %40 for "
            "@, %2F for /, %3F for ?, %23 for # and %25 for %"
        )
    return value


def _is_host(text: str) -> bool:
    """A name, an address, a socket directory, or nothing."""
    return text == "" or text.startswith("/") or _HOST.fullmatch(text) is not None


def _is_port(text: str) -> bool:
    return text == "" or (_PORT.fullmatch(text) is not None and int(text) <= 65535)


def http_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        sound = parts.scheme in {"http", "https"} and _HOST.fullmatch(parts.hostname or "") and parts.port != 0
    except ValueError:
        sound = False
    if not sound or not VISIBLE.fullmatch(text):
        raise ValueError("it must be like http://HOST:PORT or https://HOST:PORT")
    return text


def visible(text: str) -> str:
    if not VISIBLE.fullmatch(text):
        raise ValueError("it must have visible ASCII characters only: no spaces, no line breaks")
    return text


def _visible_secret(value: SecretStr) -> SecretStr:
    visible(value.get_secret_value())
    return value


def sealing_keys_text(value: SecretStr) -> SecretStr:
    try:
        read_keys(value.get_secret_value())
    except SealingError as error:
        raise ValueError(str(error)) from None
    return value


def ports(text: str) -> str:
    if not all(_PORT.fullmatch(port) and int(port) <= 65535 for port in text.split(",")):
        raise ValueError("it must be ports separated by commas, like 443 or 443,9443")
    return text


def address_pairs(text: str) -> str:
    for pair in text.split(","):
        announced, _, reached = pair.partition("=")
        if not _HOST.fullmatch(announced) or not _HOST.fullmatch(reached):
            raise ValueError("it must be ANNOUNCED=REACHED, like 127.0.0.1=simulator; several separated by commas")
    return text


def between_commas(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def lower_case(texts: frozenset[str]) -> frozenset[str]:
    return frozenset(text.lower() for text in texts)


def currency_code(text: str) -> str:
    if text not in MINOR_UNITS:
        raise ValueError("it must be the ISO 4217 code of a currency in use, like EUR")
    return text


PostgresqlUrl: TypeAlias = Annotated[SecretStr, AfterValidator(_postgresql_url)]
VisibleSecret: TypeAlias = Annotated[SecretStr, AfterValidator(_visible_secret)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=30 * 86_400)]
Networks: TypeAlias = Annotated[tuple[IPvAnyNetwork, ...], NoDecode, BeforeValidator(between_commas)]
