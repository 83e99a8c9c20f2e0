"""Path and header parameters shared by routes."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import Path

ProjectRef = Annotated[str, Path(description="the project's id, number or slug", examples=["research"])]
ClusterId = Annotated[UUID, Path(description="the cluster's id")]
AccountId = Annotated[UUID, Path(description="the billing account's id")]
OperationId = Annotated[UUID, Path(description="the operation's id")]


def _header(name: str, description: str, **schema: Any) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string", **schema},
    }


IF_MATCH = _header("If-Match", "Change the object only if it still has this ETag's version; else 412.")
IF_NONE_MATCH = _header("If-None-Match", "Respond 304 if the object still has this ETag.")
REQUIRED_IF_MATCH = IF_MATCH | {"required": True, "description": "The ETag of the document as read."}
IDEMPOTENCY_KEY = _header(
    "Idempotency-Key",
    "Makes repeating a request safe: the same key and request have one effect and one response. Use a UUID.",
    minLength=1,
    maxLength=255,
    pattern="^[!-~]+$",
)
