"""Admission of a requested cluster: everything that is checked before anything is taken for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.budgets import suspending as budgets
from ipucloud.billing.dunning import overdue
from ipucloud.billing.prepaid.holds import hold
from ipucloud.billing.prepaid.tables import HOLDING
from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.cost_limits.store import HAS_LIMIT, count_within_limit, refuse_reached
from ipucloud.clusters.flavor_choice import Choice, choose, invalid, not_sold, reserved_sku, sku_of, unknown_keys
from ipucloud.clusters.locks import LockedCluster
from ipucloud.clusters.volumes.snapshots.images import find_own_image
from ipucloud.clusters.waiting.queue import AWAITED
from ipucloud.config import Settings
from ipucloud.contract.catalogue import Flavor
from ipucloud.contract.clusters import ClusterCreate
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.identity.ssh_authorities import CURRENT_AUTHORITY
from ipucloud.inventory.placement import HAS_ROOM
from ipucloud.inventory.sync import users_at_controllers
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, FieldError, Problem
from ipucloud.kernel.money import MINOR_UNITS, Money


class _Facts(NamedTuple):
    """`unit_price` None: the article is not sold in `currency`, and there is no `account_id`.

    `next_currency`: that of the account that is to pay later, if one is.
    """

    refusing_budget: dict[str, object] | None
    refusing_invoice: dict[str, object] | None
    expired: bool | None
    public_keys: dict[str, str]
    ssh_authority: str | None
    typical_seconds: dict[str, float] | None
    secure: bool
    has_room: bool
    awaited: bool
    has_limit: bool
    account_id: UUID
    unit_price: Decimal | None
    when_empty: str | None
    currency: str
    next_currency: str | None


_FACTS = Query(
    clauses(
        "SELECT",
        budgets.REFUSING_BUDGET,
        "AS refusing_budget,",
        overdue.REFUSING_INVOICE,
        """
           AS refusing_invoice,
           CAST(:expires_at AS timestamptz) <= app_now() AS expired,
           (SELECT coalesce(json_object_agg(name, public_key), '{}') FROM ssh_keys
             WHERE project_id = :project_id AND name = ANY(CAST(:key_names AS text[]))) AS public_keys,
           """,
        CURRENT_AUTHORITY,
        """
           AS ssh_authority,
           (SELECT typical_seconds FROM site_regions WHERE region = :region) AS typical_seconds,
           """,
        users_at_controllers(":region"),
        """
           AS secure,
           """,
        HAS_ROOM,
        """
           AS has_room,
           """,
        AWAITED,
        "AS awaited,",
        HAS_LIMIT,
        """
           AS has_limit, price.account_id, price.unit_price,
           (SELECT when_empty FROM prepaid_accounts WHERE account_id = price.account_id) AS when_empty, payer.currency,
           (SELECT coalesce(n.currency, :default_currency)
              FROM project_accounts AS later JOIN billing_accounts AS n ON n.id = later.account_id
             WHERE later.project_id = :project_id AND later.valid_from > app_now()
             ORDER BY later.valid_from DESC LIMIT 1) AS next_currency
      FROM (SELECT coalesce(CAST(:currency AS text), a.currency, :default_currency) AS currency
              FROM payer_of(:project_id, app_now()) AS p JOIN billing_accounts AS a ON a.id = p.account_id) AS payer
      LEFT JOIN LATERAL prices_paid(:project_id, :sku, :region, payer.currency) AS price
        ON price.valid_from <= app_now() AND price.valid_to > app_now()
        """,
    ),
    _Facts,
)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a cluster costs per minute, and whether budgets, invoices and funds allow it now.

    `holds_funds`: the account `account_id`, which pays now, is prepaid and must have funds for the first hour.
    `has_cost_limit`: the token of the request has one.
    `refusing_budget`: the reached budget that forbids new clusters. `refusing_invoice`: the overdue one that does.
    """

    per_minute: Money
    account_id: UUID
    holds_funds: bool
    has_cost_limit: bool
    refusing_budget: Mapping[str, object] | None
    refusing_invoice: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class Admitted:
    """A request that can be carried out if quota and capacity allow it.

    `public_keys` maps the names of the chosen SSH keys, in the order of the request, to their `authorized_keys` lines.
    `ssh_authority`: the public key of the project's, if it has one. `typical_seconds` is the site's figure for its
    stages, and may be empty. `secure`: the region's V-IPU controllers have users. `has_room`: as in
    `placement.HAS_ROOM`. `awaited`: other clusters wait for such machines.
    """

    choice: Choice
    public_keys: Mapping[str, str]
    ssh_authority: str | None
    typical_seconds: Mapping[str, float]
    secure: bool
    has_room: bool
    awaited: bool
    terms: Terms


async def admit(
    connection: Statements, actor: Actor, body: ClusterCreate, *, catalogue: Catalogue, currency: str
) -> Admitted:
    """Check the request against the catalogue, the project's keys, the prices and the clock.

    The cluster is priced in the currency of the account that pays; `currency` is the installation's. Raises `Problem`
    validation_failed with all faults, state_conflict while the project changes to an account in another currency.
    """
    own_image = await find_own_image(connection, catalogue, body.image, project_id=actor.project_id)
    choice = choose(body, catalogue, own_image)
    flavor = choice.flavor
    sku = sku_of(flavor, preemptible=body.preemptible)
    article = {
        "sku": sku,
        "preemptible": body.preemptible,
        "region": choice.region.slug,
        "currency": None,
        "default_currency": currency,
        "machine_type": flavor.machine_type,
        "machines": flavor.machines,
    }
    facts = await _facts(connection, actor, article, body.tags, key_names=body.ssh_keys, expires_at=body.expires_at)
    known = facts.public_keys
    faults = list(unknown_keys(body.ssh_keys, known))
    if facts.expired:
        faults.append(FieldError("/expires_at", "not_in_future", "Choose an instant in the future."))
    if facts.unit_price is None or facts.currency not in MINOR_UNITS:
        faults.append(not_sold(body, sku, facts.currency))
    if facts.next_currency not in {None, facts.currency}:
        sentence = (
            f"The account that pays for the project from the next full hours on is in {facts.next_currency}, and the"
            f" present one in {facts.currency}: create the cluster when it has changed."
        )
        raise Problem(STATE_CONFLICT, sentence)
    if faults or facts.unit_price is None:
        raise invalid(faults)
    return Admitted(
        choice=choice,
        public_keys={name: known[name] for name in body.ssh_keys},
        ssh_authority=facts.ssh_authority,
        typical_seconds=facts.typical_seconds or {},
        secure=facts.secure,
        has_room=facts.has_room,
        awaited=facts.awaited,
        terms=_terms(facts, Money.of(facts.unit_price, facts.currency) * flavor.machines),
    )


async def terms_of(connection: Statements, actor: Actor, cluster: LockedCluster) -> Terms:
    """The terms of an existing cluster from now on; one statement. Raises `Problem` state_conflict."""
    article = {
        "sku": cluster.sku,
        "preemptible": cluster.preemptible,
        "region": cluster.region,
        "currency": cluster.currency,
        "default_currency": cluster.currency,
        "machine_type": cluster.machine_type,
        "machines": cluster.machines,
    }
    facts = await _facts(connection, actor, article, cluster.tags)
    if facts.unit_price is None:
        raise Problem(STATE_CONFLICT, "The cluster's flavor currently has no price in its region. Try again later.")
    return _terms(facts, Money.of(facts.unit_price, cluster.currency) * cluster.machines)


async def reserved_terms(
    connection: Statements, actor: Actor, flavor: Flavor, region: str, *, count: int, currency: str
) -> Terms | None:
    """The terms of so many reserved clusters of a flavor, as of now; None: reserved minutes of it have no price."""
    article = {
        "sku": reserved_sku(flavor),
        "preemptible": False,
        "region": region,
        "currency": None,
        "default_currency": currency,
        "machine_type": flavor.machine_type,
        "machines": flavor.machines,
    }
    facts = await _facts(connection, actor, article, {})
    if facts.unit_price is None or facts.currency not in MINOR_UNITS:
        return None
    if facts.next_currency not in {None, facts.currency}:
        raise Problem(
            STATE_CONFLICT, "The project changes to an account in another currency: reserve when it has changed."
        )
    return _terms(facts, Money.of(facts.unit_price, facts.currency) * (flavor.machines * count))


async def storage_terms(
    connection: Statements, actor: Actor, sku: str, region: str, *, gib: int, tags: Mapping[str, str], currency: str
) -> Terms | None:
    """The terms of so many GiB of volumes or snapshots, or of 1 address, as of now; None: no price in the region.

    `currency` is the installation's; they are priced in that of the account that pays. Raises `Problem`
    state_conflict.
    """
    article = {
        "sku": sku,
        "preemptible": False,
        "region": region,
        "currency": None,
        "default_currency": currency,
        "machine_type": sku,
        "machines": 1,
    }
    facts = await _facts(connection, actor, article, tags)
    if facts.unit_price is None or facts.currency not in MINOR_UNITS:
        return None
    if facts.next_currency not in {None, facts.currency}:
        raise Problem(
            STATE_CONFLICT, "The project changes to an account in another currency: repeat this when it has changed."
        )
    return _terms(facts, Money.of(facts.unit_price, facts.currency) * gib)


async def _facts(
    connection: Statements,
    actor: Actor,
    article: Mapping[str, object],
    tags: Mapping[str, str],
    *,
    key_names: Sequence[str] = (),
    expires_at: datetime | None = None,
) -> _Facts:
    parameters = {
        "project_id": actor.project_id,
        "token_id": actor.token_id,
        "key_names": list(key_names),
        "expires_at": expires_at,
        "tags": orjson.dumps(tags).decode(),
        **article,
    }
    return await _FACTS.one(connection, parameters)


def _terms(facts: _Facts, per_minute: Money) -> Terms:
    return Terms(
        per_minute=per_minute,
        account_id=facts.account_id,
        holds_funds=facts.when_empty in HOLDING,
        has_cost_limit=facts.has_limit,
        refusing_budget=facts.refusing_budget,
        refusing_invoice=facts.refusing_invoice,
    )


def refuse_by_terms(terms: Terms) -> None:
    """Raise `Problem` budget_reached or payment_overdue when a budget or an invoice of the payer forbids clusters."""
    if terms.refusing_budget is not None:
        raise budgets.refused(terms.refusing_budget)
    if terms.refusing_invoice is not None:
        raise overdue.refused(terms.refusing_invoice)


async def hold_first_hour(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, terms: Terms, settings: Settings
) -> None:
    """Hold funds of a prepaid account, and check the cost limit of a token; comes last in its transaction.

    What nobody requested now, as a resume by a schedule, is checked against the limits that the cluster counts against.
    Raises `Problem` funds_exhausted, cost_limit_reached.
    """
    if terms.holds_funds:
        await hold(
            connection,
            account_id=terms.account_id,
            project_id=actor.project_id,
            cluster_id=cluster_id,
            per_minute=terms.per_minute,
            minutes=settings.prepaid_hold_minutes,
        )
    await check_cost_limit(connection, actor, cluster_id, terms, settings)
    if actor.token_id is None:
        await refuse_reached(connection, actor.project_id, cluster_id)


async def check_cost_limit(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, terms: Terms, settings: Settings
) -> None:
    """Count the cluster against the cost limit of the request's token, if it has one.

    Raises `Problem` cost_limit_reached.
    """
    if terms.has_cost_limit:
        minutes = settings.prepaid_hold_minutes
        await count_within_limit(connection, actor, cluster_id, terms.per_minute, minutes=minutes)
