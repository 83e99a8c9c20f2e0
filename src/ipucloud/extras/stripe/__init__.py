"""Stripe as the payment provider: automatic top-ups are charged to a payment method that the customer saved there."""
