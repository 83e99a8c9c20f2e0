"""Collecting payments, and proving what is billed."""

from __future__ import annotations

import structlog

from ipucloud.billing.invoices.payment_port import RECORDED, PaymentPort
from ipucloud.billing.invoices.payments import collect_payments
from ipucloud.billing.proofs.sign import sign_months
from ipucloud.billing.stripe.charges import StripePayments
from ipucloud.billing.stripe.client import StripeClient
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.kernel.sealing import read_keys

log = structlog.get_logger(__name__)


async def collect(database: Database, settings: Settings) -> None:
    await collect_payments(database, payment_port(database, settings))


def payment_port(database: Database, settings: Settings) -> PaymentPort:
    """Who collects payments. The key is read anew, so that one in a file can be replaced. Raises OSError."""
    secret = settings.stripe_secret()
    return RECORDED if secret is None else StripePayments(database, StripeClient(settings.stripe_url, secret))


async def prove_bills(database: Database, settings: Settings) -> None:
    """Sign sealed months. Without a key nothing is signed, and no invoice has a proof."""
    if settings.secrets_key is not None:
        for month in await sign_months(database, read_keys(settings.secrets_key.get_secret_value())):
            log.info("month_signed", month=month.isoformat())
