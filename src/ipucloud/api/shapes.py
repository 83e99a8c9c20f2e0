"""Path and header parameters shared by routes."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, WithJsonSchema

NAMED = WithJsonSchema({"type": "string"})
"""For the id of an object that a path may also name (`api.names`)."""
ProjectRef = Annotated[str, Field(description="Slug, number or id of the project.", examples=["research"])]
ClusterId = Annotated[UUID, Field(description="Name or id of the cluster.", examples=["bert"]), NAMED]
AccountId = Annotated[
    UUID, Field(description="Name or id of the billing account.", examples=["Example University"]), NAMED
]
OperationId = Annotated[UUID, Field(description="Id of the operation.")]


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
LAST_EVENT_ID = _header("Last-Event-ID", "The last id of an earlier stream; takes precedence over `after`.")
IDEMPOTENCY_KEY = _header(
    "Idempotency-Key",
    "Makes repeating a request safe: the same key and request have one effect and one response. Use a UUID.",
    minLength=1,
    maxLength=255,
    pattern="^[!-~]+$",
)
REQUIRED_IDEMPOTENCY_KEY = IDEMPOTENCY_KEY | {
    "required": True,
    "description": "The request moves money: the same key and request have one effect, for ever. Use a UUID.",
}
