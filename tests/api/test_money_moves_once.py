"""Requests that move money: each needs a key, and moves it once, whenever and however often it is repeated."""

from __future__ import annotations

import asyncio
import random
from decimal import Decimal
from typing import Any

import httpx
import pytest

from ipucloud.billing.invoices.payments import record_payment
from ipucloud.idempotency.store import sweep
from ipucloud.identity.roles import Role
from ipucloud.kernel.money import Money
from tests.api.operations import OPERATIONS
from tests.api.support import Api, key, problem
from tests.support.invoices import make_invoice

pytestmark = pytest.mark.anyio

MOVES_MONEY = {"topUpWallet", "grantCredit", "recordPayment", "recordRefund", "reversePayment", "issueCreditNote"}
FOR_EVER = "2126-01-01T00:00:00Z"
_MOVED = """
SELECT a.code || ' ' || CASE WHEN a.id = t.debit_id THEN '-' ELSE '+' END || t.amount
  FROM ledger_transfers t JOIN ledger_accounts a ON a.id IN (t.debit_id, t.credit_id) AND a.owner_id IS NOT NULL
 WHERE t.kind IN ('top_up', 'refund', 'payment_reversed', 'credit_granted', 'credit_note_net') ORDER BY t.id, a.code
"""


def test_the_document_says_which_requests_need_a_key() -> None:
    assert {name for name, operation in OPERATIONS.items() if operation.key_required} == MOVES_MONEY


async def test_without_a_key_no_money_moves(api: Api) -> None:
    requests = await _requests(api, random.Random(1))  # noqa: S311
    before = await api.snapshot()
    for caller, path, body in requests.values():
        refused = problem(await caller.post(path, json=body), 400, "idempotency_key_required")
        assert "moves money" in refused["detail"]
        problem(await api.client().post(path, json=body), 401, "unauthenticated")
    assert await api.snapshot() == before


@pytest.mark.parametrize("seed", range(3))
async def test_repeats_move_no_money_however_late(api: Api, seed: int) -> None:
    """Random requests, repeated at once, later, after the stored answers are gone, and altered."""
    chance = random.Random(seed)  # noqa: S311  # repeatable, not secret
    sent: list[tuple[tuple[httpx.AsyncClient, str, dict[str, Any]], dict[str, str], str]] = []
    for _ in range(12):
        requests = await _requests(api, chance)
        name = chance.choice(sorted(requests))
        headers, (caller, path, body) = key(), requests[name]
        answers = await asyncio.gather(*(caller.post(path, json=body, headers=headers) for _ in range(2)))
        done = [answer for answer in answers if answer.status_code == 201]
        if not done:
            assert name == "recordRefund", answers[0].text
            continue
        sent.append((requests[name], headers, _reference(done[0])))
        assert {_reference(answer) for answer in done} == {_reference(done[0])}
        if chance.random() < 0.4:
            await api.world.execute("UPDATE idempotency_keys SET created_at = created_at - interval '9 days'")
            await sweep(api.world.database)
        moved = await api.world.column(_MOVED)
        (caller, path, body), headers, reference = chance.choice(sent)
        again = await caller.post(path, json=body, headers=headers)
        assert (again.status_code, _reference(again), again.headers["idempotent-replayed"]) == (201, reference, "true")
        other = body | ({"net": "0.02"} if "net" in body else {"amount": _euros(Decimal("7.77"))})
        problem(await caller.post(path, json=other, headers=headers), 422, "idempotency_key_reused")
        assert await api.world.column(_MOVED) == moved
    assert len(sent) == await api.count("money_requests")


async def test_a_key_that_moved_money_is_never_removed(api: Api) -> None:
    caller, path, body = (await _requests(api, random.Random(1)))["grantCredit"]  # noqa: S311
    await caller.post(path, json=body, headers=key())
    for statement in ("DELETE FROM money_requests", "UPDATE money_requests SET key = 'x'"):
        with pytest.raises(Exception, match="permission denied"):
            await api.world.execute(statement)


def _reference(answer: httpx.Response) -> str:
    body: dict[str, str] = answer.json()
    return body.get("id") or body["number"]


def _euros(amount: Decimal) -> dict[str, str]:
    return {"amount": str(amount), "currency": "EUR"}


async def _requests(api: Api, chance: random.Random) -> dict[str, tuple[httpx.AsyncClient, str, dict[str, Any]]]:
    """A new request of each kind; refunds may be of more than there is."""
    admin, account = await api.caller(Role.ADMIN), f"/v1/billing/accounts/{api.world.project.id}"
    async with api.world.database.begin() as connection:
        number = await make_invoice(connection, api.world.project.id)
        paid = await record_payment(
            connection, api.world.project.id, Money.of(5, "EUR"), reference=f"paid {chance.random()}", invoice=None
        )
    amount = {"amount": _euros(Decimal(chance.randint(1, 500)) / 100)}
    reference = {"reference": f"wire {chance.random()}"}
    credit = {"reason": "welcome", "expires_at": FOR_EVER}
    return {
        "topUpWallet": (api.owner, f"{api.base}/billing/top-ups", amount),
        "grantCredit": (admin, f"{account}/credits", amount | credit),
        "recordPayment": (admin, f"{account}/payments", amount | reference),
        "recordRefund": (admin, f"{account}/refunds", amount | reference),
        "reversePayment": (admin, f"{account}/payments/{paid}/reversals", amount | reference),
        "issueCreditNote": (admin, f"/v1/billing/invoices/{number}:credit-note", {"net": "0.01", "reason": "x"}),
    }
