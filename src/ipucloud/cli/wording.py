"""Errors of the API in the words of the command line: its options in place of fields, and no requests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ipucloud.client.errors import ApiError

_REQUEST = re.compile(r"[;.]? ?`(?:GET|PATCH|POST|PUT|DELETE) [^`]*`[^.;]*")
"""What follows a sentence about the request that lists what there is."""
_FIELD = re.compile(r"`([a-z_]+)`")


def spoken(error: ApiError, parameters: Iterable[Any]) -> ApiError:
    """The error as it is shown to who called a command with these parameters; `document` stays the API's."""
    options = _options(parameters)
    faults = [
        replace(each, pointer=_named(each.pointer, options), detail=_text(each.detail, options))
        for each in error.errors
    ]
    return replace(error, detail=_text(error.detail, options), errors=faults)


def _options(parameters: Iterable[Any]) -> dict[str, str]:  # Any: Typer's type of a parameter has no public name
    """The option or argument for each name that a field can have; plurals are of options that can be repeated."""
    options = {}
    for each in parameters:
        is_option = each.opts[0].startswith("-")
        shown = each.opts[0] if is_option else (each.metavar or each.name).upper()
        for name in (each.name, each.opts[0].lstrip("-").replace("-", "_")):
            options[name] = options[f"{name}s"] = shown
    return options


def _named(pointer: str, options: dict[str, str]) -> str:
    field, *rest = pointer.lstrip("/?").split("/")
    if field in options:
        return options[field]
    return " ".join([field, *rest]).replace("_", " ") or "request"


def _text(text: str, options: dict[str, str]) -> str:
    text = _REQUEST.sub("", text)
    return _FIELD.sub(lambda match: options.get(match[1], match[1].replace("_", " ")), text)
