"""Names as of the sealing of a month: later renamings must not change exports of the month."""

from __future__ import annotations

from datetime import date

import sqlalchemy as sa

from ipucloud.db.engine import Database
from ipucloud.db.rows import Query

CREATOR_TAG = "ipucloud/created_by"
"""The key of the tag that says who created a resource, as FOCUS has tags of a provider: with a prefix of its own."""
TAGS = f"""
(k.tags || coalesce((
   SELECT jsonb_build_object('{CREATOR_TAG}', t.name)
     FROM operations o JOIN tokens t ON t.id = o.requested_by
    WHERE o.project_id = k.project_id AND o.cluster_id = k.id AND o.kind = 'cluster.create'
    ORDER BY o.created_at LIMIT 1), '{{}}'))
"""  # noqa: S608  # our own text
"""SQL of the tags of `resources AS k`: its own, and the name of the token that created it.

No tag of a customer takes the creator's place, and none has it whose creation no token asked for.
"""

PRICING_CATEGORY = "CASE WHEN right(sku, 12) = '-preemptible' THEN 'Dynamic' ELSE 'Standard' END"
"""SQL of FOCUS's pricing category of a `sku`: what the provider takes back at any time is priced dynamically."""


def invoice_id(number: str = "number", account: str = "account_id") -> str:
    """SQL of FOCUS's invoice id of a row whose invoice has the `number`, if there is one.

    Once the invoices of a month are issued, what costs nothing in it is on none.
    """
    return (
        f"coalesce({number}, CASE WHEN NOT EXISTS (SELECT FROM invoiced_months issued WHERE issued.month = %(month)s)"
        f" THEN 'draft:' || {account} || ':' || to_char(%(month)s::date, 'YYYY-MM') END)"
    )


def _by_kind(cluster: str, volume: str, address: str, snapshot: str | None = None) -> str:
    """SQL of what differs between storage, addresses and what is made of machines, by its kind."""
    return (
        f"CASE kind WHEN 'volume' THEN {volume} WHEN 'snapshot' THEN {snapshot or volume}"
        f" WHEN 'address' THEN {address} ELSE {cluster} END"
    )


RESOURCE_URN = _by_kind("'urn:ipu:cluster:'", "'urn:ipu:volume:'", "'urn:ipu:address:'", "'urn:ipu:snapshot:'")
RESOURCE_TYPE = _by_kind("'IPU Cluster'", "'Volume'", "'Address'", "'Snapshot'")
CONSUMED_UNIT = _by_kind("'IPU-Minutes'", "'GiB-Minutes'", "'Address-Minutes'")
PRICING_UNIT = _by_kind("'Server-Minutes'", "'GiB-Minutes'", "'Address-Minutes'")
METER = _by_kind("'Server running time'", "'Volume capacity'", "'Reserved address'", "'Snapshot capacity'")
SERVICES = {
    "service_category": _by_kind("'AI and Machine Learning'", "'Storage'", "'Networking'"),
    "service": _by_kind("'IPU Cluster'", "'Volume'", "'Address'"),
    "service_subcategory": _by_kind("'Machine Learning'", "'Block Storage'", "'Network Infrastructure'"),
}
"""SQL of FOCUS's three columns about the service; what is of no resource, such as tax, has those of clusters."""

_MONTHS = Query(
    """
    SELECT month FROM billing_months b
     WHERE sealed_at IS NOT NULL AND NOT EXISTS (SELECT FROM export_months e WHERE e.month = b.month) ORDER BY month
    """,
    date,
)
_PATIENCE = sa.text("SET LOCAL statement_timeout = '10min'")
_FREEZE = sa.text("INSERT INTO export_months (month) VALUES (:month) ON CONFLICT DO NOTHING")
_NAMES = sa.text(
    f"""
    WITH charged AS MATERIALIZED (
      SELECT DISTINCT account_id, project_id, resource_id FROM usage_charges WHERE billing_month = :month
    )
    INSERT INTO export_names (month, kind, id, name, tags)
    SELECT :month, 'cluster', k.id, k.name, {TAGS}
      FROM resources k WHERE k.id IN (SELECT resource_id FROM charged)
    UNION ALL
    SELECT :month, 'project', p.id, p.name, NULL FROM projects p WHERE p.id IN (SELECT project_id FROM charged)
    UNION ALL
    SELECT :month, 'account', a.id, a.name, NULL FROM billing_accounts a WHERE a.id IN (SELECT account_id FROM charged)
    """  # noqa: S608  # our own text
)


async def freeze_names(database: Database) -> list[date]:
    """Record the names of every sealed month that has none yet, each in one transaction; returns the months."""
    async with database.read() as connection:
        months = await _MONTHS.all(connection)
    for month in months:
        async with database.begin() as connection:
            await connection.execute(_PATIENCE)
            if (await connection.execute(_FREEZE, {"month": month})).rowcount:
                await connection.execute(_NAMES, {"month": month})
    return months
