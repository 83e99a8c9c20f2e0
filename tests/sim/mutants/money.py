"""Bugs in prepaid money and in requests that move money."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace as altered
from decimal import Decimal

from ipucloud.billing.prepaid.arithmetic import Standing
from ipucloud.db import outages
from ipucloud.idempotency import store
from tests.sim.mutants.planting import mutant, replace

_FUNDS = "tests/unit/billing/test_prepaid_funds.py"


async def _nothing(*_: object, **__: object) -> None:
    return None


@mutant("credit counts as prepaid money after its expiry", directed=f"{_FUNDS} -k as_far_as_it_can_be_burned")
def expired_credit_is_money(stack: ExitStack) -> None:
    honest = Standing._burnable

    def burnable(self: Standing, used: Decimal, limit: object) -> Decimal:
        valid = [altered(each, used_before=None) for each in self.credits]
        return honest(altered(self, credits=valid), used, lambda _: None)

    replace(stack, Standing, "_burnable", burnable)


@mutant("a create may spend what its tax needs", directed=f"{_FUNDS} -k accepted_is_paid")
def prepaid_before_tax(stack: ExitStack) -> None:
    replace(stack, Standing, "tax", lambda *_: Decimal(0))


@mutant("an account runs empty without a warning", directed=f"{_FUNDS} -k every_level")
def low_funds_unsaid(stack: ExitStack) -> None:
    replace(stack, Standing, "level", lambda *_: None)


@mutant(
    "money moves again when the stored answer of its request is gone",
    directed="tests/api/test_money_moves_once.py -k however_late",
)
def money_keys_forgotten(stack: ExitStack) -> None:
    replace(stack, store, "find_money", _nothing)
    replace(stack, store, "keep_money", _nothing)


@mutant("a lock that stays taken is called an outage", directed="tests/feature/db/test_lock_waits.py")
def lock_wait_is_an_outage(stack: ExitStack) -> None:
    replace(stack, outages, "gave_up", lambda _: False)
