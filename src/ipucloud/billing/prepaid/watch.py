"""Monitors prepaid accounts: releases ended holds and reports each change of state once."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.billing.prepaid.funds import FUNDS, GONE, POSTED
from ipucloud.billing.reports.outlook import OVER_EVERYTHING
from ipucloud.db.documents import clauses, money
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.events.log import RECORD
from ipucloud.kernel.failpoints import failpoint

_ANY = Query("SELECT EXISTS (SELECT FROM prepaid_accounts) OR EXISTS (SELECT FROM create_holds)", bool)
_ONE_AT_A_TIME = sa.text("SELECT pg_advisory_xact_lock(7220504)")
_RELEASE = sa.text(
    clauses(
        "UPDATE create_holds h SET released_at = app_now(), reason = CASE WHEN",
        POSTED,
        "THEN 'posted' ELSE 'gone' END FROM billed_clusters c",
        "WHERE h.released_at IS NULL AND c.project_id = h.project_id AND c.id = h.cluster_id AND (",
        GONE,
        "OR",
        POSTED,
        ")",
    )
)
_ENTER = sa.text(
    clauses(
        "WITH payer AS (SELECT account_id, currency FROM prepaid_accounts),",
        FUNDS,
        """
        , entered AS (
          UPDATE prepaid_accounts p
             SET state = CASE WHEN f.left_over > 0 THEN 'funded' ELSE 'empty' END, state_entered_at = app_now()
            FROM funds f
           WHERE f.account_id = p.account_id AND p.state <> CASE WHEN f.left_over > 0 THEN 'funded' ELSE 'empty' END
          RETURNING p.account_id, p.state, p.when_empty, p.currency, f.left_over
        )
        """,
        RECORD,
        """
        SELECT project.id, CASE e.state WHEN 'empty' THEN 'account.funds_exhausted' ELSE 'account.funds_restored' END,
               'account', e.account_id, NULL, NULL,
        """,
        f"jsonb_build_object('when_empty', e.when_empty, 'left', {money('e.left_over', 'e.currency')})",
        """
          FROM entered e
         CROSS JOIN LATERAL projects_paid_by(e.account_id) AS paid
          JOIN projects project ON project.id = paid.project_id AND project.deleted_at IS NULL
        """,
    )
)


async def watch_prepaid(database: Database) -> int:
    """Release ended holds and update accounts' states; returns the number of events.

    An account is `empty` while its funds before holds are zero or less. It is one transaction, so concurrent or killed
    runs report a change exactly once.
    """
    async with database.read() as connection:
        if not await _ANY.one(connection):
            return 0
    async with database.begin() as connection:
        for statement in (*OVER_EVERYTHING, _ONE_AT_A_TIME, _RELEASE):
            await connection.execute(statement)
        reported = (await connection.execute(_ENTER)).rowcount
        failpoint("prepaid.before_commit")
    return reported
