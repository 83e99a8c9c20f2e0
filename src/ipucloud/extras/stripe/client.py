"""Stripe's API over HTTP: PaymentIntents, refunds and disputes, as far as top-ups need them.

Amounts are integers of a currency's smallest unit, by Stripe's own rules, which differ from ISO 4217: ISK and UGX have
no decimals but are sent with two, MGA is sent without any, and the last digit of a currency with three must be 0
(https://docs.stripe.com/currencies).

The secret key is sent in a header and appears in no message. Every request has a time-out, and one that is safe to
repeat: a request to create has an idempotency key, the others change nothing or nothing more.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import httpx
import orjson

from ipucloud.kernel.money import MINOR_UNITS, Money

_AS_TWO_DECIMALS = frozenset({"ISK", "UGX"})
_WITHOUT_DECIMALS = frozenset({"MGA"})
_THREE_DECIMALS = frozenset({"BHD", "JOD", "KWD", "OMR", "TND"})


class AmountRefusedError(ValueError):
    """Stripe cannot collect the amount; the text says why."""


def smallest_units(money: Money) -> int:
    """The amount in Stripe's units. Raises `AmountRefusedError`: nothing is ever rounded."""
    currency = money.currency
    if MINOR_UNITS[currency] == 3 and currency not in _THREE_DECIMALS:
        raise AmountRefusedError(f"Stripe does not collect {currency}.")
    places = _places(currency)
    units = money.amount.scaleb(places)
    step = 10 if currency in _THREE_DECIMALS else 1
    if units % step != 0:
        raise AmountRefusedError(f"Stripe collects {currency} in steps of {_step(places, step)} only.")
    return int(units)


def of_smallest_units(units: int, currency: str) -> Money:
    """What so many of Stripe's units of the currency are."""
    return Money.of(Decimal(units).scaleb(-_places(currency)), currency)


def _places(currency: str) -> int:
    return 2 if currency in _AS_TWO_DECIMALS else 0 if currency in _WITHOUT_DECIMALS else MINOR_UNITS[currency]


def _step(places: int, step: int) -> str:
    return "1" if places == 0 else f"{step / 10**places:.{places}f}"


API_VERSION: Final = "2024-04-10"
SECONDS: Final = 8.0
"""One request; shorter than the port's patience with a payment."""
_PAGES: Final = 20
# Of refunds, then of disputes: with an inquiry (`warning_…`) and a dispute that was won, the money is here.
_TAKEN: Final = frozenset({"pending", "requires_action", "succeeded", "needs_response", "under_review", "lost"})
ENDED: Final = frozenset({"succeeded", "failed", "canceled", "lost", "won", "warning_closed"})
"""After which nothing more comes of a dispute; a refund can still fail for a while."""
_MOST: Final = 1_000_000
_REFUNDS: Final = "/v1/refunds"
_DISPUTES: Final = "/v1/disputes"


@dataclass(frozen=True, slots=True)
class Intent:
    """A PaymentIntent. `received`: what was collected, in its smallest unit. `failure`: why the last try failed."""

    id: str
    status: str
    received: int
    currency: str
    payment: str | None
    failure: str | None


@dataclass(frozen=True, slots=True)
class Reversal:
    """A refund or a dispute, of which both have these. `taken`: whether the customer or the bank has the money now."""

    id: str
    intent: str
    amount: int
    currency: str
    status: str

    @property
    def taken(self) -> bool:
        return self.status in _TAKEN


class StripeError(Exception):
    """Stripe gave no usable answer: a lost one, a limit, a fault of its own, or of this installation's settings."""


class StripeRefusedError(Exception):
    """Stripe refused a request. `kind`: the error's type; `intent`: the PaymentIntent that the error is about."""

    def __init__(self, kind: str, detail: str, intent: Intent | None) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.intent = intent


@dataclass(frozen=True, slots=True)
class Charge:
    """What Stripe is asked to collect; the same at every try."""

    payment_id: UUID
    reference: str
    idempotency_key: UUID
    customer: str
    payment_method: str
    amount: int
    currency: str
    since: int


class StripeClient:
    """`url`: of Stripe's API, or of what stands before it."""

    def __init__(self, url: str, secret_key: str, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {secret_key}", "Stripe-Version": API_VERSION}
        self._transport = transport

    async def create(self, charge: Charge) -> Intent:
        """Ask Stripe to collect the charge now, without the customer. Raises `StripeError`, `StripeRefusedError`."""
        form = {
            "amount": str(charge.amount),
            "currency": charge.currency.lower(),
            "customer": charge.customer,
            "payment_method": charge.payment_method,
            "automatic_payment_methods[enabled]": "true",
            "automatic_payment_methods[allow_redirects]": "never",
            "off_session": "true",
            "confirm": "true",
            "error_on_requires_action": "true",
            "description": charge.reference,
            "metadata[payment]": str(charge.payment_id),
            "metadata[reference]": charge.reference,
        }
        key = {"Idempotency-Key": str(charge.idempotency_key)}
        return _intent(await self._send("POST", "/v1/payment_intents", data=form, headers=key))

    async def retrieve(self, intent: str) -> Intent:
        """Raises `StripeError`, `StripeRefusedError`."""
        return _intent(await self._send("GET", f"/v1/payment_intents/{intent}"))

    async def cancel(self, intent: str) -> Intent:
        """Cancel what was not collected, so that nobody can pay it any more. Raises as `retrieve`."""
        form = {"cancellation_reason": "abandoned"}
        return _intent(await self._send("POST", f"/v1/payment_intents/{intent}/cancel", data=form))

    async def find(self, charge: Charge) -> Intent | None:
        """The PaymentIntent of a charge whose answers were all lost. Raises as `retrieve`."""
        query = {"customer": charge.customer, "created[gte]": str(charge.since)}
        async for listed in self._listed("/v1/payment_intents", query):
            intent = _intent(listed)
            if intent.payment == str(charge.payment_id):
                return intent
        return None

    async def reversals(self, since: int) -> AsyncIterator[Reversal]:
        """Refunds and disputes that began since then, of PaymentIntents. Raises as `retrieve`."""
        for path in (_REFUNDS, _DISPUTES):
            async for listed in self._listed(path, {"created[gte]": str(since)}):
                if listed.get("payment_intent") is not None:
                    yield _reversal(listed)

    async def reversal(self, reversal: str) -> Reversal:
        """A refund or dispute by its id, as it is now. Raises as `retrieve`."""
        path = _REFUNDS if reversal.startswith(("re_", "pyr_")) else _DISPUTES
        return _reversal(await self._send("GET", f"{path}/{reversal}"))

    async def _listed(self, path: str, query: dict[str, str]) -> AsyncIterator[dict[str, Any]]:
        """What Stripe lists, newest first. Raises `StripeError` when there is too much of it."""
        parameters = query | {"limit": "100"}
        for _ in range(_PAGES):
            page = await self._send("GET", path, params=parameters)
            listed = page.get("data", [])
            for each in listed:
                yield each
            if not page.get("has_more") or not listed:
                return
            parameters["starting_after"] = str(listed[-1].get("id"))
        raise StripeError(f"{path} has too many entries")

    async def _send(self, method: str, path: str, **sent: Any) -> dict[str, Any]:
        client = httpx.AsyncClient(
            base_url=self._url, headers=self._headers, timeout=SECONDS, transport=self._transport
        )
        try:
            async with client:
                answer = await client.request(method, path, **sent)
        except httpx.HTTPError as error:
            raise StripeError(type(error).__name__) from None
        return _read(answer)


def _read(answer: httpx.Response) -> dict[str, Any]:
    named = answer.headers.get("Request-Id", "-")
    try:
        body = orjson.loads(answer.content) if len(answer.content) <= _MOST else None
    except orjson.JSONDecodeError:
        body = None
    if answer.is_success and isinstance(body, dict):
        return body
    error = body.get("error") if isinstance(body, dict) else None
    if answer.status_code in {400, 402, 404} and isinstance(error, dict):
        about = error.get("payment_intent")
        intent = _intent(about) if isinstance(about, dict) else None
        raise StripeRefusedError(str(error.get("type")), _said(error), intent)
    raise StripeError(f"HTTP {answer.status_code}, request {named}")


def _intent(body: dict[str, Any]) -> Intent:
    try:
        failure = body.get("last_payment_error")
        return Intent(
            id=str(body["id"]),
            status=str(body["status"]),
            received=int(body.get("amount_received") or 0),
            currency=str(body["currency"]).upper(),
            payment=(body.get("metadata") or {}).get("payment"),
            failure=_said(failure) if isinstance(failure, dict) else None,
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        raise StripeError("an answer that is no PaymentIntent") from None


def _reversal(body: dict[str, Any]) -> Reversal:
    try:
        return Reversal(
            id=str(body["id"]),
            intent=str(body["payment_intent"]),
            amount=int(body["amount"]),
            currency=str(body["currency"]).upper(),
            status=str(body["status"]),
        )
    except (KeyError, TypeError, ValueError):
        raise StripeError("an answer that is no refund or dispute") from None


def _said(error: dict[str, Any]) -> str:
    """What Stripe says for people, and its code for the operator."""
    code = error.get("decline_code") or error.get("code") or error.get("type")
    return f"{str(error.get('message') or 'No reason was given.')[:300]} ({str(code)[:60]})"
