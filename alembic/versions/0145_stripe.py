"""Payment methods that customers saved at Stripe, and what Stripe was asked to collect.

Revision ID: 0145
Revises: 0120
"""

from __future__ import annotations

from alembic import op

revision = "0145"
down_revision = "0120"
branch_labels = None
depends_on = None

METHODS = """
CREATE TABLE payment_methods (
    account_id UUID NOT NULL,
    customer TEXT NOT NULL,
    payment_method TEXT NOT NULL,
    set_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_payment_methods PRIMARY KEY (account_id),
    CONSTRAINT fk_payment_methods_account_id FOREIGN KEY(account_id) REFERENCES billing_accounts (id)
)
"""
CHARGES = """
CREATE TABLE payment_charges (
    payment_id UUID NOT NULL,
    idempotency_key UUID NOT NULL,
    customer TEXT NOT NULL,
    payment_method TEXT NOT NULL,
    amount BIGINT NOT NULL,
    currency TEXT NOT NULL,
    intent TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_payment_charges PRIMARY KEY (payment_id),
    CONSTRAINT ck_payment_charges_amount CHECK (amount > 0),
    CONSTRAINT uq_payment_charges_idempotency_key UNIQUE (idempotency_key),
    CONSTRAINT uq_payment_charges_intent UNIQUE (intent),
    CONSTRAINT fk_payment_charges_payment_id FOREIGN KEY(payment_id) REFERENCES payments (id)
)
"""
UP = (
    METHODS,
    "COMMENT ON TABLE payment_methods IS 'what automatic top-ups of an account are charged to'",
    "COMMENT ON COLUMN payment_methods.customer IS 'Stripe''s id, cus_…'",
    "COMMENT ON COLUMN payment_methods.payment_method IS 'Stripe''s id, pm_…'",
    "GRANT SELECT, INSERT, DELETE ON payment_methods TO ipucloud_app",
    "GRANT UPDATE (customer, payment_method, set_at) ON payment_methods TO ipucloud_app",
    CHARGES,
    "COMMENT ON TABLE payment_charges IS"
    " 'what Stripe was asked to collect, as it is asked again: a payment is one charge'",
    "COMMENT ON COLUMN payment_charges.idempotency_key IS 'of every request for it'",
    "COMMENT ON COLUMN payment_charges.amount IS 'in Stripe''s smallest unit of the currency'",
    "COMMENT ON COLUMN payment_charges.intent IS 'id of the PaymentIntent; NULL: no answer has named it yet'",
    "GRANT SELECT, INSERT ON payment_charges TO ipucloud_app",
    "GRANT UPDATE (intent) ON payment_charges TO ipucloud_app",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE payment_charges")
    op.execute("DROP TABLE payment_methods")
