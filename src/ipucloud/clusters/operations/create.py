"""Creating a cluster: everything that the request writes, in the caller's one transaction."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import open_interval
from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters import s3_access, step_objects
from ipucloud.clusters.admission import Admitted, admit, check_cost_limit, hold_first_hour, refuse_by_terms
from ipucloud.clusters.builds import bill_nothing
from ipucloud.clusters.cost_limits.store import count
from ipucloud.clusters.flavor_choice import sku_of
from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.operations.delete import TEARDOWN
from ipucloud.clusters.operations.effects import record_endpoint, record_servers
from ipucloud.clusters.operations.kind import (
    CREATES,
    MACHINES,
    VIPU,
    VIPU_USERS,
    WORK_KIND,
    ClusterKind,
    ClusterStep,
    fails_with,
    lacking,
)
from ipucloud.clusters.operations.replacing import other_hardware, replacing
from ipucloud.clusters.operations.waiting import WAIT, MayWait, Until, require_quota_for_waiting
from ipucloud.clusters.preemption.plan import ADVICE, minutes_to_room
from ipucloud.clusters.reservations.use import give_block, reservation_for
from ipucloud.clusters.schedules.store import set_schedule
from ipucloud.clusters.servers import user_data_place, user_data_to_store
from ipucloud.clusters.states import CLUSTER_STATES
from ipucloud.clusters.steps import build
from ipucloud.clusters.steps.build import ATTACH_VOLUMES, attach_volumes
from ipucloud.clusters.steps.poplar_servers import deploy_poplar_servers
from ipucloud.clusters.steps.vipu_user import keep_vipu_user
from ipucloud.clusters.volumes import at_create as volumes
from ipucloud.clusters.volumes.record import VOLUMES
from ipucloud.clusters.volumes.snapshots.images import hold_image
from ipucloud.clusters.waiting.queue import behind_the_queue, enqueue
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterCreate, ClusterState
from ipucloud.contract.estimates import BillingStart
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.events.log import RECORD
from ipucloud.identity import ssh_authorities
from ipucloud.inventory.placement import Demand, Need, allocate, refuse_if_full, refuse_if_never
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, NAME_TAKEN, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import external_name, new_id
from ipucloud.operations.kind import Billing, Repeated, Undo
from ipucloud.operations.step import PlannedStep, Stage, expected_seconds, plan_of
from ipucloud.operations.store import Accepted, Target, open_operation
from ipucloud.quotas import store as quotas

# Usual seconds for a POD16. The five stages sum to the 15 minutes that are documented for a physical deployment; the
# division is ours.
NETWORK = Stage("NETWORK", 60)
IPU_SERVERS = Stage("IPU_SERVERS", 150)
VIPU_CONTROLLER = Stage("VIPU_CONTROLLER", 165)
POPLAR_SERVERS = Stage("POPLAR_SERVERS", 490)
POST_DEPLOY_SETUP = Stage("POST_DEPLOY_SETUP", 35)


async def _begin_undo(connection: AsyncConnection, cluster: ClusterInputs) -> None:
    """What is in volumes is the customer's: they are detached before anything is removed. Nothing is charged."""
    await VOLUMES.detach_all(connection, project_id=cluster.project_id, cluster_id=cluster.id)
    await bill_nothing(connection, cluster)


CREATE = ClusterKind(
    name=CREATES,
    work_kind=WORK_KIND,
    steps=(
        ClusterStep(name="attach_network", stage=NETWORK, act=build.attach_network, asks=step_objects.network),
        ClusterStep(
            name="power_on_machines",
            stage=IPU_SERVERS,
            act=build.power_on_machines,
            asks=step_objects.machines,
            requires=MACHINES,
        ),
        ClusterStep(
            name="create_allocation",
            stage=VIPU_CONTROLLER,
            act=build.create_allocation,
            requires=VIPU,
            on_success=record_endpoint,
        ),
        ClusterStep(name="create_vipu_user", stage=VIPU_CONTROLLER, act=keep_vipu_user, requires=VIPU_USERS),
        ClusterStep(name="test_cluster", stage=VIPU_CONTROLLER, act=build.test_cluster, requires=VIPU),
        ClusterStep(name="create_partition", stage=VIPU_CONTROLLER, act=build.create_partition, requires=VIPU),
        ClusterStep(
            name="deploy_poplar_servers",
            stage=POPLAR_SERVERS,
            act=deploy_poplar_servers,
            asks=step_objects.hosts,
            on_success=record_servers,
        ),
        ClusterStep(name=ATTACH_VOLUMES, stage=POST_DEPLOY_SETUP, act=attach_volumes),
        ClusterStep(name="check_ipus", stage=POST_DEPLOY_SETUP, act=build.check_ipus, asks=step_objects.hosts),
    ),
    states=CLUSTER_STATES,
    begins_in=frozenset(),
    during=CLUSTER_STATES.initial,
    success=ClusterState.ACTIVE,
    undo=Undo(
        steps=TEARDOWN,
        what="creation",
        cancelled=ClusterState.DELETED,
        failed=ClusterState.ERROR,
        on_begin=_begin_undo,
    ),
    cancellable=True,
    repeated=Repeated.REFUSED,
    billing=Billing.STARTS,
    deadline=None,
    preceding=WAIT,
    replacing=replacing(TEARDOWN),
    other_hardware=other_hardware,
    failure=fails_with("What was built is removed and nothing is charged.", "Delete the cluster and create it again"),
)

FIRST_INCARNATION = 1


class _Request(NamedTuple):
    """An admitted request."""

    actor: Actor
    body: ClusterCreate
    admitted: Admitted
    settings: Settings


_NAMED = Query(
    "SELECT count(*) > 0 FROM clusters WHERE project_id = :project_id AND name = :name AND deleted_at IS NULL", bool
)
_INSERT = sa.text(
    clauses(
        """
    WITH cluster AS (
      INSERT INTO clusters (
        id, project_id, name, region, flavor, machine_type, machines, ipus, allocated_through, sku, currency,
        billing_starts, image, reconfigurable, ssh_keys, ssh_authority, allowed_sources, sources_revision, user_data,
        tags, delete_protection, expires_at, auto_repair, repair_window, idle_suspend_minutes, preemptible, state,
        state_sla_seconds, incarnation, external_name)
      VALUES (
        :id, :project_id, :name, :region, :flavor, :machine_type, :machines, :ipus, :allocated_through, :sku, :currency,
        :billing_starts, :image, :reconfigurable, CAST(:ssh_keys AS jsonb), :ssh_authority,
        CAST(:allowed_sources AS jsonb), :sources_revision, :user_data, CAST(:tags AS jsonb), :delete_protection,
        :expires_at, :auto_repair, CAST(:repair_window AS jsonb),
        :idle_suspend_minutes, :preemptible, :state, :sla, :incarnation, :external_name)
      ON CONFLICT (project_id, name) WHERE deleted_at IS NULL DO NOTHING
      RETURNING id, project_id, external_name, region, flavor
    ), servers AS (
      INSERT INTO poplar_servers (id, project_id, cluster_id, ordinal, name, state)
      SELECT server.id, cluster.project_id, cluster.id, server.ordinal - 1,
             cluster.external_name || '-p' || (server.ordinal - 1), 'pending'
        FROM cluster, unnest(CAST(:server_ids AS uuid[])) WITH ORDINALITY AS server (id, ordinal)
    )
        """,
        RECORD,
        """
    SELECT project_id, 'cluster.created', 'cluster', id, NULL, :request_id,
           jsonb_build_object('region', region, 'flavor', flavor)
      FROM cluster
        """,
    )
)


async def create(
    connection: AsyncConnection, actor: Actor, body: ClusterCreate, *, catalogue: Catalogue, settings: Settings
) -> Accepted:
    """Record the cluster with its quota, servers, operation, work item, machines and events, or nothing.

    Seven statements, and one more for the first cluster of a project, whose SSH authority it makes. Machines, for which
    others may wait, are locked last. Raises `Problem`: validation_failed, budget_reached, payment_overdue,
    quota_exceeded, name_taken, capacity_exhausted, funds_exhausted, cost_limit_reached, unavailable.

    A cluster that waits for capacity is recorded without quota and machines when others wait, or none are free. One
    that is created from a reservation gets what that holds.
    """
    admitted = await admit(connection, actor, body, catalogue=catalogue, currency=settings.currency)
    refuse_by_terms(admitted.terms)
    if admitted.ssh_authority is None:
        authority = await ssh_authorities.ensure(connection, actor.project_id, settings.sealing_keys())
        admitted = replace(admitted, ssh_authority=authority)
    may_wait = MayWait(body.wait_for_capacity, body.wait_until)
    may_wait.check()
    request = _Request(actor, body, admitted, settings)
    if body.reservation is not None:
        return await _create_reserved(connection, request, body.reservation)
    if not body.wait_for_capacity:
        try:
            return await _create_now(connection, request)
        except Problem as problem:
            raise await _with_advice(connection, problem, request) from problem
    until = await may_wait.end(connection)
    if not admitted.awaited:
        try:
            async with connection.begin_nested():
                return await _create_now(connection, request)
        except Problem as problem:
            if problem.kind is not CAPACITY_EXHAUSTED:
                raise
    return await _create_waiting(connection, request, until)


async def _create_now(connection: AsyncConnection, request: _Request) -> Accepted:
    actor, body, admitted, settings = request
    region, flavor = admitted.choice.region.slug, admitted.choice.flavor
    await _allocate_quota(connection, actor, admitted)
    failpoint("create.quota_taken")
    need = Need.of(flavor, admitted.choice.poplar_servers)
    if admitted.awaited or not admitted.has_room:
        await _refuse_early(connection, actor, body.name, region, need)
        if admitted.awaited:
            raise behind_the_queue(
                "Create the cluster with `wait_for_capacity`, choose another machine type or region, or try again"
                " later."
            )
    cluster_id, operation_id = await _write(connection, request, plan_for(admitted, body), settings.create_deadline)
    await allocate(connection, Demand(actor.project_id, cluster_id, region, need))
    failpoint("create.machines_taken")
    await hold_first_hour(connection, actor, cluster_id, admitted.terms, settings)
    if admitted.choice.region.billing.starts is BillingStart.REQUESTED:
        await open_interval(connection, project_id=actor.project_id, cluster_id=cluster_id)
    return Accepted(operation_id, cluster_id)


async def _with_advice(connection: AsyncConnection, problem: Problem, request: _Request) -> Problem:
    """The refusal of a create that does not wait. It begins no preemption; a create that waits would."""
    _, body, admitted, settings = request
    if problem.kind is not CAPACITY_EXHAUSTED or body.preemptible or admitted.awaited:
        return problem
    need = Need.of(admitted.choice.flavor, admitted.choice.poplar_servers)
    minutes = await minutes_to_room(connection, admitted.choice.region.slug, need, settings)
    if minutes is None:
        return problem
    return Problem(
        problem.kind,
        f"{problem.detail} {ADVICE.format(minutes=minutes)}",
        headers=problem.headers,
        extra={**problem.extra, "preemption_minutes": minutes},
    )


async def _create_reserved(connection: AsyncConnection, request: _Request, reservation_id: UUID) -> Accepted:
    """Machines, hosts and quota are the reservation's, and so is what they cost."""
    actor, body, admitted, settings = request
    reservation = await reservation_for(connection, actor, body, reservation_id, admitted.choice)
    cluster_id, operation_id = await _write(connection, request, plan_for(admitted, body), settings.create_deadline)
    await give_block(connection, reservation, cluster_id)
    await count(connection, actor, cluster_id)  # it costs something once the reservation has ended
    return Accepted(operation_id, cluster_id)


async def _create_waiting(connection: AsyncConnection, request: _Request, until: Until) -> Accepted:
    """The cluster waits in the queue. What it needs must fit the quota beside what the project's others wait for."""
    actor, body, admitted, settings = request
    flavor = admitted.choice.flavor
    project, region, machine_type = actor.project_id, admitted.choice.region.slug, flavor.machine_type
    await require_quota_for_waiting(
        connection, project_id=project, region=region, machine_type=machine_type, machines=flavor.machines
    )
    await refuse_if_never(connection, region, Need.of(flavor, admitted.choice.poplar_servers))
    plan = (*plan_of(CREATE.preceding, {}), *plan_for(admitted, body))
    cluster_id, operation_id = await _write(connection, request, plan, until.deadline_seconds(settings))
    await enqueue(
        connection, project_id=project, operation_id=operation_id, machines=flavor.machines, until=until.until
    )
    await check_cost_limit(connection, actor, cluster_id, admitted.terms, settings)
    return Accepted(operation_id, cluster_id)


async def _allocate_quota(connection: AsyncConnection, actor: Actor, admitted: Admitted) -> None:
    flavor = admitted.choice.flavor
    await quotas.consume(
        connection,
        project_id=actor.project_id,
        region=admitted.choice.region.slug,
        machine_type=flavor.machine_type,
        machines=flavor.machines,
    )


async def _write(
    connection: AsyncConnection, request: _Request, plan: tuple[PlannedStep, ...], deadline_seconds: float
) -> tuple[UUID, UUID]:
    """The cluster and its operation, without machines; their ids."""
    actor, body, admitted, _ = request
    expected = expected_seconds(plan, admitted.typical_seconds)
    if admitted.choice.own_image:
        await hold_image(connection, admitted.choice.image, project_id=actor.project_id)
    cluster_id = await _insert(connection, request, expected)
    if body.schedule is not None:
        await set_schedule(connection, project_id=actor.project_id, cluster_id=cluster_id, schedule=body.schedule)
    if body.s3_connections:
        await s3_access.attach(connection, body.s3_connections, project_id=actor.project_id, cluster_id=cluster_id)
    if body.volumes:
        region = admitted.choice.region.slug
        await volumes.attach_new(
            connection, body.volumes, project_id=actor.project_id, cluster_id=cluster_id, region=region
        )
    failpoint("create.cluster_written")
    operation_id = await open_operation(
        connection,
        CREATE,
        actor,
        Target(cluster_id=cluster_id),
        plan=plan,
        deadline_seconds=deadline_seconds,
        expected_seconds=expected,
    )
    return cluster_id, operation_id


async def _refuse_early(connection: AsyncConnection, actor: Actor, name: str, region: str, need: Need) -> None:
    """A full region refuses most requests here, before anything is written for them.

    Raises `Problem` capacity_exhausted, or name_taken: a repeated request learns of its cluster. Returns when there is
    room again.
    """
    if await _NAMED.one(connection, {"project_id": actor.project_id, "name": name}):
        raise name_taken()
    await refuse_if_full(connection, region, need)


def plan_for(admitted: Admitted, body: ClusterCreate) -> tuple[PlannedStep, ...]:
    """The steps that create the admitted cluster."""
    steps = [step for step in CREATE.steps if body.volumes or step.name != ATTACH_VOLUMES]
    return plan_of(steps, lacking(admitted.choice.flavor.allocated_through, secure=admitted.secure))


async def _insert(connection: AsyncConnection, request: _Request, expected: float) -> UUID:
    """The cluster, its Poplar servers and its event; raises `Problem` name_taken."""
    actor, body, admitted, settings = request
    cluster_id, flavor = new_id(), admitted.choice.flavor
    keys = [{"name": name, "public_key": key} for name, key in admitted.public_keys.items()]
    inserted = await connection.execute(
        _INSERT,
        {
            "id": cluster_id,
            "project_id": actor.project_id,
            "name": body.name,
            "region": admitted.choice.region.slug,
            "flavor": flavor.name,
            "machine_type": flavor.machine_type,
            "machines": flavor.machines,
            "ipus": flavor.ipus,
            "allocated_through": flavor.allocated_through.value,
            "sku": sku_of(flavor, preemptible=body.preemptible),
            "currency": admitted.terms.per_minute.currency,
            "billing_starts": admitted.choice.region.billing.starts.value,
            "image": admitted.choice.image,
            "reconfigurable": body.partition.reconfigurable,
            "ssh_keys": orjson.dumps(keys).decode(),
            "user_data": user_data_to_store(
                settings.sealing_keys(), body.user_data, user_data_place(cluster_id, actor.project_id)
            ),
            "ssh_authority": admitted.ssh_authority,
            "allowed_sources": orjson.dumps(body.allowed_sources).decode(),
            "sources_revision": 1 if body.allowed_sources else 0,
            "tags": orjson.dumps(body.tags).decode(),
            "delete_protection": body.delete_protection,
            "expires_at": body.expires_at,
            "auto_repair": body.auto_repair,
            "repair_window": None if body.repair_window is None else body.repair_window.model_dump_json(),
            "idle_suspend_minutes": body.idle_suspend_minutes,
            "preemptible": body.preemptible,
            "state": CLUSTER_STATES.initial.value,
            "sla": math.ceil(expected),
            "incarnation": FIRST_INCARNATION,
            "external_name": external_name(cluster_id, FIRST_INCARNATION),
            "server_ids": [new_id() for _ in range(admitted.choice.poplar_servers)],
            "request_id": actor.request_id,
        },
    )
    if inserted.rowcount == 0:
        raise name_taken()
    return cluster_id


def name_taken() -> Problem:
    """409: names are unique among a project's clusters that are not deleted."""
    return Problem(
        NAME_TAKEN, "Another cluster of the project has this name. Choose another name, or delete that cluster first."
    )
