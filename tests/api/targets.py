"""Everything that a path of the API can name, made for the operation that is to be asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from uuid import UUID

import httpx
import orjson
import sqlalchemy as sa

from ipucloud.billing.budgets.store import NewBudget, Owner, Threshold, create
from ipucloud.billing.dunning.store import set_dunning
from ipucloud.billing.invoices.payments import expect_payment, record_payment
from ipucloud.billing.prepaid.funds import set_prepaid
from ipucloud.billing.prepaid.top_ups import set_top_up
from ipucloud.billing.pricing.book import add
from ipucloud.clusters.fault_reports.store import Hardware, open_report
from ipucloud.clusters.reservations.store import reserve
from ipucloud.contract.accounts import DunningPolicy
from ipucloud.contract.capacity import ReservationCreate
from ipucloud.contract.fault_reports import FaultReportCreate
from ipucloud.contract.jobs import JobCreate
from ipucloud.contract.prices import PriceAddition
from ipucloud.contract.quota_requests import QuotaRequestCreate
from ipucloud.contract.services import ServiceCreate, ServiceDeploy
from ipucloud.contract.wallet import PaymentMethodSet, TopUpPolicy
from ipucloud.extras.stripe.methods import set_method
from ipucloud.identity import key_store, ssh_authorities
from ipucloud.identity.invitations import invite
from ipucloud.identity.members import Home
from ipucloud.identity.roles import Role
from ipucloud.inventory.expected.changes import replace
from ipucloud.inventory.health.codes import Code
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money
from ipucloud.kernel.sealing import read_keys
from ipucloud.programs.jobs.store import create as create_job
from ipucloud.programs.services.releases import deploy
from ipucloud.programs.services.store import create as create_service
from ipucloud.quotas.counted import DefaultLimits
from ipucloud.quotas.requests import open_request
from ipucloud.webhooks.tables import webhook_deliveries, webhooks
from tests.api.bodies import TOP_UP
from tests.api.operations import IN_BODY, Documented
from tests.api.support import SECRETS_KEY, Api, public_key
from tests.support.addresses import make_address, offer_addresses
from tests.support.exports import make_export, some_connection, some_schedule
from tests.support.factories import Project, make_reading, make_token
from tests.support.invoices import make_invoice, say_signed
from tests.support.partitions import make_partition
from tests.support.people import make_person
from tests.support.prices import book
from tests.support.reservations import offer, reservation_json
from tests.support.snapshots import make_snapshot, offer_snapshots
from tests.support.volumes import make_volume, offer_volumes

FAR = datetime(2126, 1, 1, tzinfo=UTC)
numbers = count(1)

_OF_ACCOUNTS = {"endPrepaid", "setTopUp", "endTopUp", "endDunning", "getPaymentMethod", "removePaymentMethod"}
"""Operations that need a policy of the account."""

_IN_USE = frozenset(
    {
        *("suspendCluster", "repairCluster", "rescheduleRepair", "rebootCluster", "powerCycleCluster"),
        *("rebuildCluster", "resizeCluster", "estimateClusterResize"),
    }
)
"""Operations that need a cluster in use."""


_FREE_ADDRESSES = (
    sa.text(
        """
        UPDATE addresses SET state = 'deleted', delete_requested_at = app_now(), deleted_at = app_now(),
               cluster_id = NULL, server_id = NULL
         WHERE id IN (SELECT id FROM addresses WHERE project_id = :project AND state <> 'deleted'
                       ORDER BY created_at DESC OFFSET 2)
        """
    ),
    sa.text(
        """
        UPDATE usage_intervals SET ended_at = greatest(started_at, date_trunc('second', app_now(), 'UTC'))
         WHERE project_id = :project AND ended_at IS NULL
           AND resource_id IN (SELECT id FROM addresses WHERE project_id = :project AND state = 'deleted')
        """
    ),
)


@dataclass
class Targets:
    """A started application, an administrator of it, and objects for what is asked."""

    api: Api
    admin: httpx.AsyncClient

    async def target(self, operation: Documented, project: Project) -> dict[str, str]:
        """What the path names, made new: an operation may use it up."""
        world, number = self.api.world, next(numbers)
        names = {"project": str(project.id), "region": "luxembourg-2", "flavor": "m2000-pod4", "recipe": "digits"}
        names |= await self._of_operators(operation, project, f"target-{number}")
        if "{cluster}" in operation.path or "{operation}" in operation.path:
            accepted = await world.customer(project).create(f"target-{number}")
            names |= {"cluster": str(accepted.target_id), "operation": str(accepted.operation_id)}
        names |= await self._faults(operation, project, names)
        await self._rests(operation, project, names)
        names |= await self._secret(operation, project, names)
        if "/partitions" in operation.path:
            await world.finish_create(accepted.target_id)
            async with world.database.begin() as connection:
                await make_partition(connection, project.id, accepted.target_id)
            names["partition"] = "training"
        if "/jobs" in operation.path or "/services" in operation.path:
            names |= await self._program(operation, project, accepted.target_id)
        if "/billing/invoices" in operation.path:
            async with world.database.begin() as connection:
                names["number"] = await make_invoice(connection, project.id)
                await say_signed(connection, project.id)
        names |= await self._payment(operation, project, f"for {number}")
        names |= await self._export(operation, project)
        names |= await self._quota_request(operation, project)
        names |= await self._reservation(operation, project)
        names |= await self._storage(operation, project, number)
        if "{account}" in operation.path:
            names["account"] = str(project.id)
        if "{budget}" in operation.path or operation.id in _OF_ACCOUNTS:
            names["budget"] = await self._money(operation, project, f"target-{number}")
        if "{price}" in operation.path:
            new = PriceAddition(
                sku=f"sku-{number}", region="r", unit_price=Money.of(1, "EUR"), valid_from=FAR, source="test"
            )
            async with world.database.begin() as connection:
                await add(connection, [new], default="EUR")
                names["price"] = str(next(each.id for each in await book(connection) if each.sku == new.sku))
        if "{token}" in operation.path:
            async with world.database.begin() as connection:
                home, role = (project.id, Role.OWNER) if operation.scoped else (None, Role.SUPPORT)
                names["token"] = str((await make_token(connection, home, role)).id)
        names |= await self._people(operation, project, number)
        if "{key}" in operation.path:
            async with world.database.begin() as connection:
                ssh_key, _ = await key_store.add(
                    connection, project.actor, name=f"target-{number}", public_key=public_key(number)
                )
            names["key"] = str(ssh_key)
        return names

    async def _program(self, operation: Documented, project: Project, cluster: UUID) -> dict[str, str]:
        """A job and a service of a cluster, which is in use then."""
        await self.api.world.finish_create(cluster)
        service = ServiceCreate(name="chat", command=["serve"], port=1999)
        async with self.api.world.database.begin() as connection:
            job = await create_job(connection, project.actor, cluster, JobCreate(command=["true"]), None)
            await create_service(connection, project.actor, cluster, service, None)
            if operation.id == "rollbackService":
                release = ServiceDeploy(command=["serve", "2"])
                await deploy(connection, project.actor, cluster, "chat", body=release, keys=None)
        return {"job": str(job.number), "service": "chat"}

    async def _people(self, operation: Documented, project: Project, number: int) -> dict[str, str]:
        """A member, or somebody who is invited to be one."""
        role = Role.VIEWER if operation.scoped else Role.PAYER
        async with self.api.world.database.begin() as connection:
            if "{member}" in operation.path:
                return {"member": str((await make_person(connection, project.id, role)).member)}
            if "{invitation}" in operation.path:
                home = Home(project.id, None, "a test") if operation.scoped else Home(None, project.id, "a test")
                email = f"target-{number}@example.com"
                invitation_id, _ = await invite(connection, home, email=email, role=role, seconds=60.0, mailed=False)
                return {"invitation": str(invitation_id)}
        return {}

    async def _quota_request(self, operation: Documented, project: Project) -> dict[str, str]:
        """A request for a higher quota; a quota has one that is open."""
        if "/quota-requests" not in operation.path:
            return {}
        await self.api.world.execute(
            "UPDATE quota_requests SET state = 'withdrawn', decided_by = id, decided_at = app_now()"
            " WHERE state = 'open'"
        )
        if "{quota_request}" not in operation.path:
            return {}
        limit = await self.api.world.value("SELECT max(machine_limit) + 1 FROM quotas")
        body = QuotaRequestCreate(region="luxembourg-2", machine_type="m2000", limit=limit, reason="more")
        async with self.api.world.database.begin() as connection:
            defaults = DefaultLimits(volume_gib=0, addresses=0)
            request = await open_request(connection, project.actor, body, region="luxembourg-2", defaults=defaults)
        return {"quota_request": str(request)}

    async def _reservation(self, operation: Documented, project: Project) -> dict[str, str]:
        """A reservation, where the operator offers them."""
        if "/reservations" not in operation.path:
            return {}
        async with self.api.world.database.begin() as connection:
            await offer(connection)
            if "{reservation}" not in operation.path:
                return {}
            body = ReservationCreate.model_validate_json(orjson.dumps(reservation_json()))
            catalogue, settings = self.api.world.catalogue, self.api.world.settings
            reservation = await reserve(connection, project.actor, body, catalogue=catalogue, settings=settings)
        return {"reservation": str(reservation)}

    async def _storage(self, operation: Documented, project: Project, number: int) -> dict[str, str]:
        """A snapshot, a volume or an address; for one that is to be attached or detached also a cluster in use, which
        has it already or not."""
        if "/snapshots" in operation.path:
            return await self._snapshot(operation, project, number)
        noun, make = ("address", make_address) if "/addresses" in operation.path else ("volume", make_volume)
        if not any(each in operation.path for each in ("/addresses", "/volumes")):
            return {}
        if noun == "address":
            await self._free_addresses(project)
        else:
            async with self.api.world.database.begin() as connection:
                await offer_volumes(connection)
        if f"{{{noun}}}" not in operation.path:
            return {}
        using = None
        if operation.id.startswith(("attach", "detach")):
            using = (await self.api.world.customer(project).create(f"target-{number}")).target_id
            await self.api.world.finish_create(using)
        attached = using if operation.id.startswith("detach") else None
        made = await make(self.api.world, project, f"target-{number}", attached_to=attached)
        return {noun: str(made), "using": str(using)}

    async def _snapshot(self, operation: Documented, project: Project, number: int) -> dict[str, str]:
        """A snapshot, or a volume that can be copied."""
        if "{snapshot}" in operation.path:
            return {"snapshot": str(await make_snapshot(self.api.world, project, f"target-{number}"))}
        async with self.api.world.database.begin() as connection:
            await offer_snapshots(connection)
        return {"volume": str(await make_volume(self.api.world, project, f"target-{number}"))}

    async def _free_addresses(self, project: Project) -> None:
        """A project has few: the oldest make room."""
        async with self.api.world.database.begin() as connection:
            await offer_addresses(connection)
            for statement in _FREE_ADDRESSES:
                await connection.execute(statement, {"project": project.id})

    async def _of_operators(self, operation: Documented, project: Project, name: str) -> dict[str, str]:
        """What paths for operators name."""
        if not operation.path.startswith("/v1/operator/"):
            return {}
        names = {"request_id": "any-request-at-all", "name": str(project.id)}
        if "{item}" in operation.path:  # the work item of a new cluster
            accepted = await self.api.world.customer(project).create(name)
            names |= {"kind": "cluster", "item": str(accepted.target_id)}
        if "{freeze}" in operation.path or operation.id == "forceDeleteCluster":
            await self.api.world.execute(
                "UPDATE freezes SET ended_at = app_now(), ended_by = id, end_reason = 'over' WHERE ended_at IS NULL"
            )
        if "{freeze}" in operation.path:
            names["freeze"] = str(new_id())
            await self.api.world.execute(
                "INSERT INTO freezes (id, reason, created_by, expires_at) VALUES (:id, 'a test', :id, '2126-01-01')",
                id=names["freeze"],
            )
        if "simulated-faults" in operation.path:
            await self.api.world.execute(
                "INSERT INTO site_regions (region, simulated) VALUES ('luxembourg-2', true)"
                " ON CONFLICT (region) DO UPDATE SET simulated = true"
            )
        if "{simulated_fault}" in operation.path:
            names["simulated_fault"] = str(new_id())
            await self.api.world.execute(
                "INSERT INTO simulated_faults (id, region, kind, name, created_by)"
                " VALUES (:id, 'luxembourg-2', 'host', :name, :id)",
                id=names["simulated_fault"],
                name=name,
            )
        if "expected-inventory" in operation.path:
            async with self.api.world.database.begin() as connection:
                await make_reading(connection, "luxembourg-2")
                await replace(connection, "luxembourg-2", [{"kind": "machine", "name": name}], name)
        hardware = {"machine": "luxembourg-2-m2000-pod-000-m00", "host": "luxembourg-2-m2000-host-000"}
        if "{report}" in operation.path:
            answer = await self.admin.post(
                "/v1/operator/hardware:quarantine", json={"machines": [hardware["machine"]], "reason": "suspected"}
            )
            assert answer.status_code == 200, answer.text
            hardware["report"] = str(await self.api.world.value("SELECT id FROM health_reports LIMIT 1"))
        return names | hardware

    async def _faults(self, operation: Documented, project: Project, names: dict[str, str]) -> dict[str, str]:
        """Hardware of the cluster of which a fault is to be reported, or a report about some."""
        if "{fault_report}" in operation.path:
            cluster = (await self.api.world.customer(project).create(f"faulty-{next(numbers)}")).target_id
            async with self.api.world.database.begin() as connection:
                machine = await self.api.world.machine_of(cluster)
                said = FaultReportCreate(description="it hangs")
                report = await open_report(connection, project.actor, cluster, Hardware("machine", machine), said)
            return {"fault_report": str(report)}
        if not operation.path.endswith((":report-fault", "/console")):
            return {}
        cluster = UUID(names["cluster"])
        server = await self.api.world.value("SELECT name FROM poplar_servers WHERE cluster_id = :id", id=cluster)
        return {"machine": await self.api.world.machine_of(cluster), "poplar_server": server}

    async def _rests(self, operation: Documented, project: Project, names: dict[str, str]) -> None:
        """Let the cluster be in use that such operations are about; suspended the one to be resumed."""
        if operation.id not in _IN_USE | {"resumeCluster"}:
            return
        cluster = UUID(names["cluster"])
        await self.api.world.finish_create(cluster)
        if operation.id == "rescheduleRepair":
            await self.api.world.execute(
                "INSERT INTO scheduled_repairs (id, project_id, cluster_id, reason, hardware, starts_at, latest_at)"
                " VALUES (:id, :project, :cluster, 'maintenance', '{}', '2125-01-01', '2127-01-01')",
                id=new_id(),
                project=project.id,
                cluster=cluster,
            )
        if operation.id == "repairCluster":
            held = f"id IN (SELECT machine_id FROM allocations WHERE cluster_id = '{cluster}')"  # noqa: S608
            await self.api.world.impair(Code.MAINTENANCE, held)
        if operation.id == "resumeCluster":
            await self.api.world.customer(project).suspend(cluster)
            await self.api.world.finish_suspend(cluster)

    async def _secret(self, operation: Documented, project: Project, names: dict[str, str]) -> dict[str, str]:
        """What has a secret of its own: a webhook, an SSH authority, or a cluster's user at a secure controller."""
        if operation.id == "getSshAuthority":
            async with self.api.world.database.begin() as connection:
                await ssh_authorities.ensure(connection, project.id, read_keys(SECRETS_KEY))
        if operation.id in {"getVipu", "rotateVipuKey"}:
            await self.api.world.finish_create(UUID(names["cluster"]))
            await self.api.world.execute("UPDATE vipu_controllers SET secure = true")
        if "/webhooks" not in operation.path:
            return {}
        return await self._webhook(project, of_account="{account}" in operation.path)

    async def _webhook(self, project: Project, *, of_account: bool) -> dict[str, str]:
        """The only webhook of a project or of its account, and its only delivery."""
        home = "account_id" if of_account else "project_id"
        webhook_id, delivery_id = new_id(), new_id()
        webhook: dict[str, object] = {"id": webhook_id, home: project.id, "url": "https://hooks.example.com/"}
        webhook |= {"event_types": [], "secret": "sealed", "after_transaction": 1, "after_id": 0}
        delivery: dict[str, object] = {"id": delivery_id, home: project.id, "webhook_id": webhook_id}
        delivery |= {"type": "webhook.ping", "payload": "{}", "state": "failed"}
        async with self.api.world.database.begin() as connection:
            for table in (webhook_deliveries, webhooks):
                await connection.execute(sa.delete(table).where(table.c[home] == project.id))
            await connection.execute(sa.insert(webhooks).values(webhook))
            await connection.execute(sa.insert(webhook_deliveries).values(delivery))
        return {"webhook": str(webhook_id), "delivery": str(delivery_id)}

    async def _export(self, operation: Documented, project: Project) -> dict[str, str]:
        """An export, or where it is delivered to."""
        of_account = "{account}" in operation.path
        async with self.api.world.database.begin() as connection:
            if "{export}" in operation.path:
                return {"export": str(await make_export(connection, project.id, of_account=of_account))}
            if "/s3-connections" in operation.path:
                return {"connection": str(await some_connection(connection, project.id, "free", of_account=of_account))}
            if "{schedule}" in operation.path:
                return {"schedule": str(await some_schedule(connection, project.id, of_account=of_account))}
            if IN_BODY.get(operation.id) == "connection":
                s3_connection = await some_connection(connection, project.id, "scheduled", of_account=of_account)
                return {"connection": str(s3_connection)}
        return {}

    async def _payment(self, operation: Documented, project: Project, reference: str) -> dict[str, str]:
        """A payment that is expected, or one that a refund or a reversal is of."""
        async with self.api.world.database.begin() as connection:
            if operation.id in {"recordRefund", "reversePayment"}:
                plenty = Money.of("1000000.00", "EUR")  # the wallet pays open invoices first
                payment = await record_payment(connection, project.id, plenty, reference=reference, invoice=None)
                return {"payment": str(payment)}
            if "{payment}" in operation.path:
                return {"payment": str(await expect_payment(connection, project.id, Money.of("1.00", "EUR")))}
        return {}

    async def _money(self, operation: Documented, project: Project, name: str) -> str:
        """A budget of the project or its account, which pays ahead; the budget's id."""
        owner = Owner("account" if "{account}" in operation.path else "project", project.id)
        async with self.api.world.database.begin() as connection:
            await set_prepaid(connection, project.id, currency="EUR", when_empty="warn")
            await set_dunning(connection, project.id, DunningPolicy())
            await set_method(connection, project.id, PaymentMethodSet(customer="cus_1", payment_method="pm_1"))
            if operation.id == "endTopUp":
                await set_top_up(connection, project.id, TopUpPolicy.model_validate(TOP_UP))
            return str(
                await create(
                    connection, owner, NewBudget(name, Money.of(5, "EUR"), None, [Threshold("actual", 100, None)]), None
                )
            )
