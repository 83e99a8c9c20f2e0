"""Stripe's API by its own package: PaymentIntents, refunds and disputes, as far as top-ups need them.

Amounts are integers of a currency's smallest unit, by Stripe's own rules, which differ from ISO 4217: ISK and UGX have
no decimals but are sent with two, MGA is sent without any, and the last digit of a currency with three must be 0
(https://docs.stripe.com/currencies).

The secret key is sent in a header and appears in no message. Every request has a time-out, and one that is safe to
repeat: a request to create has an idempotency key, the others change nothing or nothing more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import httpx
import stripe

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
_ABOUT_US: Final = "X-Stripe-Client-"
"""How headers begin that tell Stripe about this machine and earlier requests. It needs neither."""


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
    """`url`: of Stripe's API, or of what stands before it. Nothing is repeated here: who asks knows what is safe."""

    def __init__(self, url: str, secret_key: str) -> None:
        client = stripe.StripeClient(
            secret_key,
            stripe_version=API_VERSION,
            base_addresses={"api": url},
            max_network_retries=0,
            http_client=_Requests(),
        )
        self._intents, self._refunds, self._disputes = client.v1.payment_intents, client.v1.refunds, client.v1.disputes

    async def create(self, charge: Charge) -> Intent:
        """Ask Stripe to collect the charge now, without the customer. Raises `StripeError`, `StripeRefusedError`."""
        made = self._intents.create_async(
            {
                "amount": charge.amount,
                "currency": charge.currency.lower(),
                "customer": charge.customer,
                "payment_method": charge.payment_method,
                "automatic_payment_methods": {"enabled": True, "allow_redirects": "never"},
                "off_session": True,
                "confirm": True,
                "error_on_requires_action": True,
                "description": charge.reference,
                "metadata": {"payment": str(charge.payment_id), "reference": charge.reference},
            },
            {"idempotency_key": str(charge.idempotency_key)},
        )
        return _intent(await _answer(made))

    async def retrieve(self, intent: str) -> Intent:
        """Raises `StripeError`, `StripeRefusedError`."""
        return _intent(await _answer(self._intents.retrieve_async(intent)))

    async def cancel(self, intent: str) -> Intent:
        """Cancel what was not collected, so that nobody can pay it any more. Raises as `retrieve`."""
        return _intent(await _answer(self._intents.cancel_async(intent, {"cancellation_reason": "abandoned"})))

    async def find(self, charge: Charge) -> Intent | None:
        """The PaymentIntent of a charge whose answers were all lost. Raises as `retrieve`."""
        query = {"customer": charge.customer, "created": {"gte": charge.since}}
        async for listed in _listed(self._intents.list_async, query):
            intent = _intent(listed)
            if intent.payment == str(charge.payment_id):
                return intent
        return None

    async def reversals(self, since: int) -> AsyncIterator[Reversal]:
        """Refunds and disputes that began since then, of PaymentIntents. Raises as `retrieve`."""
        for ask in (self._refunds.list_async, self._disputes.list_async):
            async for listed in _listed(ask, {"created": {"gte": since}}):
                if listed.get("payment_intent") is not None:
                    yield _reversal(listed)

    async def reversal(self, reversal: str) -> Reversal:
        """A refund or dispute by its id, as it is now. Raises as `retrieve`."""
        if reversal.startswith(("re_", "pyr_")):
            return _reversal(await _answer(self._refunds.retrieve_async(reversal)))
        return _reversal(await _answer(self._disputes.retrieve_async(reversal)))


class _Requests(stripe.HTTPClient):
    """How Stripe's package sends requests: by a client that is closed after each, and takes no endless answer.

    Its own one for httpx sends forms in a way that httpx is about to drop.
    """

    name = "httpx"

    async def request_async(
        self, method: str, url: str, headers: Mapping[str, str], post_data: str | None = None
    ) -> tuple[bytes, int, Mapping[str, str]]:
        sent = {name: value for name, value in headers.items() if not name.startswith(_ABOUT_US)}
        content = bytearray()
        try:
            async with (
                asyncio.timeout(SECONDS),
                httpx.AsyncClient(timeout=SECONDS) as client,
                client.stream(method, url, headers=sent, content=post_data) as answer,
            ):
                async for piece in answer.aiter_bytes():
                    content += piece
                    if len(content) > _MOST:
                        return b"", answer.status_code, answer.headers
        except (httpx.HTTPError, TimeoutError) as error:
            raise stripe.APIConnectionError(type(error).__name__) from None  # type: ignore[no-untyped-call]
        return bytes(content), answer.status_code, answer.headers


async def _listed(ask: Callable[..., Awaitable[Any]], query: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """What Stripe lists, newest first. Raises `StripeError` when there is too much of it."""
    parameters = query | {"limit": 100}
    for _ in range(_PAGES):
        page = await _answer(ask(parameters))
        listed = page.get("data", [])
        for each in listed:
            yield each
        if not page.get("has_more") or not listed:
            return
        parameters["starting_after"] = str(listed[-1].get("id"))
    raise StripeError("Stripe lists too many entries")


async def _answer(request: Awaitable[stripe.StripeObject]) -> dict[str, Any]:
    try:
        return dict((await request).to_dict())
    except stripe.StripeError as error:
        body = error.json_body if isinstance(error.json_body, dict) else {}
        said = body.get("error")
        if error.http_status in {400, 402, 404} and isinstance(said, dict):
            about = said.get("payment_intent")
            intent = _intent(about) if isinstance(about, dict) else None
            raise StripeRefusedError(str(said.get("type")), _said(said), intent) from None
        if error.http_status is None:
            raise StripeError(error.user_message or "") from None
        raise StripeError(f"HTTP {error.http_status}, request {error.request_id or '-'}") from None


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
