"""Calls below `operator`, which are of no project."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call


def get(path: str, answer: request.Reading[request.Result], **query: request.QueryValue) -> Call[request.Result]:
    return request.get(f"operator/{path}", answer, query, scoped=False)


def post(
    path: str, answer: request.Reading[request.Result], body: dict[str, object] | None = None
) -> Call[request.Result]:
    return request.post(f"operator/{path}", answer, body, scoped=False)
