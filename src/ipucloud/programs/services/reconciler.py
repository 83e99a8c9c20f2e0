"""Keeps the programs of a cluster's services running, beside its jobs."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.services import ServiceState
from ipucloud.kernel.failpoints import failpoint
from ipucloud.programs.observed import OFF, Due, Lost, Pausing, Refused, Removed, Result, Silent
from ipucloud.programs.reconciler import Current, Loaded, ProgramReconciler, Programs
from ipucloud.programs.services import store
from ipucloud.programs.services.store import SERVICE_RECORD, SERVICES, Service
from ipucloud.wire.site import Job as Seen

_STOPPED = "stopped by request"


class ServiceReconciler(ProgramReconciler[Service]):
    """All of them, each started again whenever its program has ended."""

    kind = SERVICES
    noun, table = "service", "services"
    loaded = Loaded(
        "SELECT * FROM services WHERE project_id = c.project_id AND cluster_id = c.id AND ended_at IS NULL",
        first="starting",
        due="p.next_start_at <= app_now()",
        environment="jsonb_build_object('PORT', p.port::text) || p.environment",
        ends="p.stop_requested_at IS NOT NULL OR p.unhealthy_at IS NOT NULL",
        check="""
        CASE WHEN p.health_check IS NOT NULL THEN jsonb_build_object(
          'port', p.port, 'path', p.health_check -> 'path', 'interval', p.health_check -> 'interval_seconds',
          'timeout', p.health_check -> 'timeout_seconds') END
        """,
    )
    record = SERVICE_RECORD

    def without_asking(self, current: Current) -> Result | None:
        if current.removed:
            return Removed()
        return Pausing() if current.host is not None and not (current.sent or current.due) else None

    def was_on(self, current: Current) -> bool:
        return current.sent

    def refused(self, current: Current, why: str) -> Result:
        return Refused(why) if current.starts else Silent(f"the site does not show it: {why}")

    async def lock(self, connection: AsyncConnection, inputs: Programs) -> Sequence[Service]:
        return await store.LOCK.all(connection, {"project_id": inputs.project_id, "cluster_id": inputs.cluster_id})

    async def write(
        self, connection: AsyncConnection, inputs: Programs, current: Current, program: Service, result: Result
    ) -> bool:
        match result:
            case _ if program.stopping and not program.sent:
                await store.end(connection, program, ServiceState.STOPPED, "request", why=_STOPPED)
            case Due():
                await self.record.mark_sent(connection, program)
                failpoint("services.sent_recorded")
            case Pausing():
                return False
            case Silent(why=why):
                await self.record.note_wait(connection, program, why)
                return False
            case Removed():
                await store.end(connection, program, ServiceState.STOPPED, "server", why="its server was removed")
            case Lost() | Refused() if program.stopping:
                await store.end(connection, program, ServiceState.STOPPED, "request", why=_STOPPED)
            case Lost():
                await store.start_again(connection, program, OFF)
            case Refused(why=why):
                await store.program_ended(connection, program, why, None)
            case Seen():
                return await self.write_observed(connection, inputs, current, program, result)
        return True

    async def write_observed(
        self, connection: AsyncConnection, inputs: Programs, current: Current, program: Service, observed: Seen
    ) -> bool:
        more = await super().write_observed(connection, inputs, current, program, observed)
        if observed.ended is None and observed.health is not None and not (program.stopping or program.unhealthy):
            return await store.note_health(connection, program, observed.health) or more
        return more

    def written(self) -> None:
        failpoint("services.observed")

    async def mark_running(self, connection: AsyncConnection, program: Service) -> Service:
        return await store.mark_running(connection, program)

    async def append_log(self, connection: AsyncConnection, program: Service, size: int, text: str) -> None:
        await store.append_log(connection, program, size, text)

    async def program_ended(
        self, connection: AsyncConnection, inputs: Programs, program: Service, observed: Seen
    ) -> None:
        if observed.ended == "stopped" and program.unhealthy and not program.stopping:
            why = f"{program.checks_failed} health checks in a row did not pass, the last one: {program.check_detail}"
            await store.program_ended(connection, program, why, None)
        elif program.stopping or observed.ended == "stopped":
            status = observed.exit_status
            await store.end(connection, program, ServiceState.STOPPED, "request", why=_STOPPED, exit_status=status)
        elif observed.ended == "exited":
            await store.program_ended(connection, program, f"exit status {observed.exit_status}", observed.exit_status)
        elif observed.ended == "not_started":
            await store.program_ended(connection, program, f"could not be started: {observed.detail}", None)
        else:
            await store.start_again(connection, program, OFF)

    async def end_with_cluster(self, connection: AsyncConnection, program: Service, why: str) -> None:
        await store.end(connection, program, ServiceState.STOPPED, "cluster", why=why)
