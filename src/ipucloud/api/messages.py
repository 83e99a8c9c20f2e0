"""The `webhooks` of the OpenAPI document: the messages to an endpoint, one for each event type."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.webhooks import Message, Ping
from ipucloud.webhooks.messages import PING

_SCHEMAS = "#/components/schemas/"
_HEADERS = {
    "webhook-id": "The message's id, the same for every attempt.",
    "webhook-timestamp": "Time of this attempt, in seconds since 1970.",
    "webhook-signature": "`v1,` and a signature; two, separated by a space, while a secret is being rotated.",
}
_RESPONSES = {
    "2XX": {"description": "The message was delivered"},
    "410": {"description": "The webhook is disabled immediately"},
    "default": {"description": "The message is retried later"},
}


def messages() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The document's `webhooks`, and the schemas and parameters that these refer to, by name."""
    sent = {name: kind for name, kind in sorted(REGISTRY.items()) if kind.project or kind.account}
    payloads = dict.fromkeys(kind.payload for kind in sent.values() if kind.payload is not None)
    models: list[type[BaseModel]] = [Message, Ping, *payloads]
    _, schemas = models_json_schema([(model, "serialization") for model in models], ref_template=_SCHEMAS + "{model}")
    webhooks = {name: _webhook(kind.meaning, _message(kind)) for name, kind in sent.items()}
    webhooks[PING] = _webhook("A ping of the webhook was requested.", _ref(Ping.__name__))
    parameters = {
        name: {"name": name, "in": "header", "required": True, "description": text, "schema": {"type": "string"}}
        for name, text in _HEADERS.items()
    }
    return webhooks, schemas["$defs"], parameters


def _webhook(meaning: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "post": {
            "summary": meaning,
            "parameters": [{"$ref": f"#/components/parameters/{name}"} for name in _HEADERS],
            "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
            "responses": _RESPONSES,
        }
    }


def _message(kind: EventType) -> dict[str, Any]:
    data = {"type": "object", "maxProperties": 0} if kind.payload is None else _ref(kind.payload.__name__)
    event: dict[str, Any] = {"data": data}
    if kind.subjects:
        event["subject_type"] = {"enum": list(kind.subjects)}
    own = {"type": {"const": kind.name}, "data": {"type": "object", "properties": event}}
    return {"allOf": [_ref(Message.__name__), {"type": "object", "properties": own}]}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": _SCHEMAS + name}
