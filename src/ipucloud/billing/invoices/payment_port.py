"""The port to a payment provider: what it is asked, and what it may say."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple, Protocol
from uuid import UUID

from ipucloud.kernel.money import Money


class Collected(StrEnum):
    """A provider's status of a payment."""

    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"


class PendingPayment(NamedTuple):
    """Money that is expected; `reference` names it at the provider too, and is used once."""

    id: UUID
    account_id: UUID
    reference: str
    amount: Decimal
    currency: str
    automatic: bool = False

    @property
    def money(self) -> Money:
        return Money.of(self.amount, self.currency)


class PaymentRefusedError(Exception):
    """The payment has failed for good; the text says why."""


class PaymentPort(Protocol):
    """A payment provider."""

    async def collect(self, payment: PendingPayment) -> Collected:
        """Request a payment, or its status; a repeated reference is the same payment.

        Raises `PaymentRefusedError`: it has failed, and why.
        """


class RecordedPayments:
    """No provider: a payment is unknown until an operator records it."""

    async def collect(self, payment: PendingPayment) -> Collected:
        return Collected.UNKNOWN


RECORDED = RecordedPayments()
