"""What workers do at Stripe. The key is read anew each time, so that one in a file can be replaced."""

from __future__ import annotations

from ipucloud.billing.invoices.payment_port import RECORDED, PaymentPort
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.extras.stripe.charges import StripePayments
from ipucloud.extras.stripe.client import StripeClient
from ipucloud.extras.stripe.reversals import find_reversals


async def find_taken_back(database: Database, settings: Settings) -> None:
    """Find payments that Stripe took back, where it is the payment provider. Raises OSError as `payment_port`."""
    secret = settings.stripe_secret()
    if secret is not None:
        await find_reversals(database, StripeClient(settings.stripe_url, secret))


def payment_port(database: Database, settings: Settings) -> PaymentPort:
    """Who collects payments. Raises OSError if the file with the key cannot be read."""
    secret = settings.stripe_secret()
    return RECORDED if secret is None else StripePayments(database, StripeClient(settings.stripe_url, secret))
