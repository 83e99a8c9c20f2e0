"""A stand-in for Stripe: PaymentIntents, refunds, disputes, as its published OpenAPI and documentation describe them.

It refuses what Stripe's OpenAPI does not have, keeps idempotency keys for a day of its clock, and answers badly when it
is told to. `tests/support/stripe_openapi.py` holds what was exchanged against the OpenAPI itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from queue import Queue
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jsonschema_rs
import orjson

VERSION = "2024-04-10"
SECRET = "sk_test_not_a_real_key"
KEYS_KEPT = timedelta(hours=24)
_TEXT = {"type": "string", "maxLength": 5000}
_NUMBER = {"type": "string", "pattern": "^[0-9]+$"}
_YES_NO = {"enum": ["true", "false"]}


def _form(required: list[str], **properties: object) -> jsonschema_rs.Validator:
    schema = {"type": "object", "required": required, "additionalProperties": False, "properties": properties}
    return jsonschema_rs.validator_for(schema)


# The part of the OpenAPI of these operations that the product may use: names, types and limits.
_CREATE = _form(
    ["amount", "currency"],
    amount=_NUMBER,
    currency={"type": "string", "pattern": "^[a-z]{3}$"},
    customer=_TEXT,
    payment_method=_TEXT,
    off_session={"enum": ["true", "false", "one_off", "recurring"]},
    confirm=_YES_NO,
    error_on_requires_action=_YES_NO,
    description={"type": "string", "maxLength": 1000},
    metadata={
        "type": "object",
        "maxProperties": 50,
        "propertyNames": {"maxLength": 40},
        "additionalProperties": {"type": "string", "maxLength": 500},
    },
    automatic_payment_methods={
        "type": "object",
        "required": ["enabled"],
        "additionalProperties": False,
        "properties": {"enabled": _YES_NO, "allow_redirects": {"enum": ["always", "never"]}},
    },
)
_CANCEL = _form([], cancellation_reason={"enum": ["abandoned", "duplicate", "fraudulent", "requested_by_customer"]})
_LIST = _form(
    [],
    customer=_TEXT,
    created={"type": "object", "additionalProperties": False, "properties": {"gt": _NUMBER, "gte": _NUMBER}},
    limit=_NUMBER,
    starting_after=_TEXT,
    ending_before=_TEXT,
)
_LIST_REVERSALS = _form(
    [],
    created={"type": "object", "additionalProperties": False, "properties": {"gt": _NUMBER, "gte": _NUMBER}},
    limit=_NUMBER,
    starting_after=_TEXT,
)
_CANCELABLE = ("requires_payment_method", "requires_capture", "requires_confirmation", "requires_action", "processing")

Answer = tuple[int, dict[str, Any]]


@dataclass(frozen=True)
class Exchange:
    """A request, and the answer if there was one. `form`: what was sent, as the object that it writes."""

    method: str
    path: str
    form: dict[str, Any]
    answer: Answer | None


@dataclass
class Stripe:
    """`faults`: how the next requests to create go: `lost` (carried out, not answered), `dropped` (neither), a status
    (not carried out), `broken` (carried out, answered with 500); otherwise they go well.

    `cards`: how the cards answer: `succeeded`, `processing`, `card_declined` or `authentication_required`.
    """

    now: datetime
    port: int = 0
    card: str = "succeeded"
    faults: list[str | int] = field(default_factory=list)
    page: int = 100
    attached: set[str] = field(default_factory=lambda: {"pm_1"})
    intents: dict[str, dict[str, Any]] = field(default_factory=dict)
    reversals: dict[str, dict[str, Any]] = field(default_factory=dict)
    keys: dict[str, tuple[datetime, dict[str, Any], Answer]] = field(default_factory=dict)
    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def calls(self) -> list[tuple[str, str]]:
        return [(each.method, each.path) for each in self.exchanges]

    @property
    def collected(self) -> list[tuple[int, str]]:
        """What cards were charged."""
        paid = [each for each in self.intents.values() if each["status"] == "succeeded"]
        return [(each["amount_received"], each["currency"]) for each in paid]

    def finish_processing(self, status: str) -> None:
        """What is processing ends."""
        for intent in self.intents.values():
            if intent["status"] == "processing":
                _enter(intent, status)

    def refund(self, amount: int, status: str = "succeeded") -> str:
        """Somebody refunds so much of the last PaymentIntent, in Stripe's dashboard; the refund's id."""
        return self._reverse("re", "refund", amount, status)

    def dispute(self, status: str = "needs_response") -> str:
        """The customer's bank takes the last PaymentIntent back; the dispute's id."""
        more: dict[str, Any] = {
            "balance_transactions": [],
            "charge": "ch_1",
            "evidence": {},
            "evidence_details": {"has_evidence": False, "past_due": False, "submission_count": 0},
            "is_charge_refundable": False,
            "livemode": False,
            "metadata": {},
            "reason": "fraudulent",
        }
        return self._reverse("du", "dispute", [*self.intents.values()][-1]["amount"], status, **more)

    def _reverse(self, prefix: str, kind: str, amount: int, status: str, **more: Any) -> str:
        intent = [*self.intents.values()][-1]
        reversal: dict[str, Any] = {
            "id": f"{prefix}_{len(self.reversals) + 1}",
            "object": kind,
            "amount": amount,
            "created": int(self.now.timestamp()),
            "currency": intent["currency"],
            "payment_intent": intent["id"],
            "status": status,
        }
        self.reversals[reversal["id"]] = reversal | more
        return str(reversal["id"])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.split("\r\n")
            method, target, _ = first.split()
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = (await reader.readexactly(int(headers.get("content-length", 0)))).decode()
            answer = self._answer(method, target, headers, body)
            if answer is not None:
                content = orjson.dumps(answer[1])
                writer.write(f"HTTP/1.1 {answer[0]} -\r\nrequest-id: req_1\r\n".encode())
                writer.write(f"content-length: {len(content)}\r\nconnection: close\r\n\r\n".encode() + content)
                await writer.drain()
        writer.close()

    def _answer(self, method: str, target: str, headers: Mapping[str, str], body: str) -> Answer | None:
        path = urlsplit(target).path
        form = nested(parse_qsl(body if method == "POST" else urlsplit(target).query, strict_parsing=bool(body)))
        known = headers.get("authorization") == f"Bearer {SECRET}"
        refused = _error(401, "invalid_request_error", "Invalid API Key provided.")
        answer = self._answer_to(method, path, headers, form) if known else refused
        self.exchanges.append(Exchange(method, path, form, deepcopy(answer)))
        return answer

    def _answer_to(self, method: str, path: str, headers: Mapping[str, str], form: dict[str, Any]) -> Answer | None:
        assert headers["stripe-version"] == VERSION
        assert not [name for name in headers if name.startswith("x-stripe-client-")]  # it needs nothing of the machine
        match method, path.removeprefix("/v1/payment_intents").strip("/").split("/"):
            case "GET", ["v1", "refunds" | "disputes" as kind, *reversal]:
                return self._reversals(kind.removesuffix("s"), "".join(reversal), form)
            case "POST", [""]:
                return self._create(form, headers["idempotency-key"])
            case "GET", [""]:
                return self._list(form)
            case "GET", [intent]:
                return (200, self.intents[intent])
            case "POST", [intent, "cancel"]:
                return self._cancel(self.intents[intent], form)
        return _error(404, "invalid_request_error", f"Unrecognized request URL ({method}: {path}).")

    def _create(self, form: dict[str, Any], key: str) -> Answer | None:
        fault = self.faults.pop(0) if self.faults else None
        if fault == "dropped":
            return None
        if isinstance(fault, int):
            kind = "idempotency_error" if fault == 409 else "api_error"
            return _error(fault, kind, "Try again.")
        known = self.keys.get(key)
        if known is not None and known[0] + KEYS_KEPT > self.now:
            same = known[1] == form
            repeated = None if fault == "lost" else known[2]
            return repeated if same else _error(400, "idempotency_error", "Keys are for one request's parameters.")
        _checked(_CREATE, form)
        if form["payment_method"] not in self.attached:
            return _error(400, "invalid_request_error", "No such PaymentMethod.", code="resource_missing")
        answer = self._charge(form) if fault != "broken" else _broken(self._charge(form))
        self.keys[key] = (self.now, form, answer)
        return None if fault == "lost" else answer

    def _charge(self, form: dict[str, Any]) -> Answer:
        amount = int(form["amount"])
        intent: dict[str, Any] = {
            "id": f"pi_{len(self.intents) + 1}",
            "object": "payment_intent",
            "amount": amount,
            "amount_received": 0,
            "capture_method": "automatic_async",
            "confirmation_method": "automatic",
            "livemode": False,
            "payment_method_types": ["card"],
            "currency": form["currency"],
            "customer": form["customer"],
            "created": int(self.now.timestamp()),
            "metadata": form.get("metadata", {}),
            "last_payment_error": None,
        }
        self.intents[intent["id"]] = intent
        if self.card in {"succeeded", "processing"}:
            _enter(intent, self.card)
            return 200, intent
        _enter(intent, "requires_payment_method")
        message = {"card_declined": "Your card was declined.", "authentication_required": "Authenticate the payment."}
        intent["last_payment_error"] = {"type": "card_error", "code": self.card, "message": message[self.card]}
        return 402, {"error": {**intent["last_payment_error"], "payment_intent": dict(intent)}}

    def _list(self, form: dict[str, Any]) -> Answer:
        _checked(_LIST, form)
        intents = [each for each in self.intents.values() if each["customer"] == form["customer"]]
        return self._paged("/v1/payment_intents", intents, form)

    def _reversals(self, kind: str, reversal: str, form: dict[str, Any]) -> Answer:
        if reversal:
            return 200, self.reversals[reversal]
        _checked(_LIST_REVERSALS, form)
        return self._paged(f"/v1/{kind}s", [each for each in self.reversals.values() if each["object"] == kind], form)

    def _paged(self, url: str, entries: list[dict[str, Any]], form: dict[str, Any]) -> Answer:
        since = int(form.get("created", {}).get("gte", 0))
        listed = [each for each in reversed(entries) if each["created"] >= since]
        if "starting_after" in form:
            listed = listed[[each["id"] for each in listed].index(form["starting_after"]) + 1 :]
        size = min(self.page, int(form["limit"]))
        return 200, {"object": "list", "url": url, "data": listed[:size], "has_more": len(listed) > size}

    def _cancel(self, intent: dict[str, Any], form: dict[str, Any]) -> Answer:
        _checked(_CANCEL, form)
        if intent["status"] not in _CANCELABLE:
            return _error(400, "invalid_request_error", "You cannot cancel this PaymentIntent.")
        _enter(intent, "canceled")
        return 200, intent


def nested(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """A form with brackets as the object that it writes: `metadata[order]=1`."""
    form: dict[str, Any] = {}
    for name, value in pairs:
        outer, _, inner = name.partition("[")
        if inner:
            form.setdefault(outer, {})[inner.removesuffix("]")] = value
        else:
            form[outer] = value
    return form


@asynccontextmanager
async def stripe_at(now: datetime) -> AsyncIterator[Stripe]:
    stripe = Stripe(now.astimezone(UTC))
    server = await asyncio.start_server(stripe.serve, "127.0.0.1", 0)
    stripe.port = server.sockets[0].getsockname()[1]
    async with server:
        yield stripe


@contextmanager
def stripe_beside(now: datetime) -> Iterator[Stripe]:
    """The same in a thread, for a test that forks."""
    ready: Queue[tuple[Stripe, asyncio.AbstractEventLoop, asyncio.Event]] = Queue()

    async def serve() -> None:
        async with stripe_at(now) as stripe:
            ended = asyncio.Event()
            ready.put((stripe, asyncio.get_running_loop(), ended))
            await ended.wait()

    thread = Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    stripe, loop, ended = ready.get()
    try:
        yield stripe
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()


def _enter(intent: dict[str, Any], status: str) -> None:
    intent["status"] = status
    intent["amount_received"] = intent["amount"] if status == "succeeded" else 0


def _checked(schema: jsonschema_rs.Validator, form: dict[str, Any]) -> None:
    wrong = [f"{each.instance_path}: {each.message}" for each in schema.iter_errors(form)]
    assert not wrong, wrong


def _broken(_: Answer) -> Answer:
    return _error(500, "api_error", "Sorry.")


def _error(status: int, kind: str, message: str, **more: str) -> Answer:
    return status, {"error": {"type": kind, "message": message, **more}}
