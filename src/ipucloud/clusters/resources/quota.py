"""The quotas of what is counted where it is: how much of it a project may have in each region, and has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import QUOTA_EXCEEDED, STATE_CONFLICT, Problem
from ipucloud.quotas.counted import LIMITS
from ipucloud.quotas.store import Quota
from ipucloud.resources.tables import ResourceKind


class CountedQuota(ABC):
    """One of these quotas, as a subclass declares it. `sku`: its type. `kinds`: what counts.

    The project is locked where something is changed, so two requests at once cannot both have the last one.
    """

    sku: ClassVar[str]
    kinds: ClassVar[tuple[ResourceKind, ...]]

    def __init__(self) -> None:
        self._limits = LIMITS[self.sku]
        used = self.used(":project_id", ":region")
        self._used = Query(f"SELECT {used} AS used", int)  # our own text
        kinds = ", ".join(f"'{kind}'" for kind in self.kinds)
        self._list = Query(
            f"""
            SELECT place.region, :sku AS machine_type,
                   coalesce(q.{self._limits.column}, CAST(:default AS integer)) AS limit,
                   {self.used(":project_id", "place.region")} AS used
              FROM (SELECT region FROM prices WHERE sku = :sku AND (valid_to IS NULL OR valid_to > app_now())
                     UNION SELECT region FROM {self._limits.table} WHERE project_id = :project_id
                     UNION SELECT region FROM resources
                            WHERE project_id = :project_id AND deleted_at IS NULL AND kind IN ({kinds})) AS place
              LEFT JOIN {self._limits.table} q ON q.project_id = :project_id AND q.region = place.region
             ORDER BY place.region
            """,  # noqa: S608  # our own text
            Quota,
        )

    @staticmethod
    @abstractmethod
    def used(project: str, region: str) -> str:
        """SQL of how much of it a project has in a region."""

    @abstractmethod
    def exceeded(self, region: str, more: int, used: int, limit: int) -> str:
        """Why so much more does not fit, for people."""

    @abstractmethod
    def above(self, region: str, used: int) -> str:
        """How much there is, for people whose limit is lower."""

    async def list(self, connection: Statements, *, project_id: UUID, default: int) -> list[Quota]:
        """Those of every region in which it is offered, or the project has some; `machine_type` is the SKU."""
        return await self._list.all(connection, {"project_id": project_id, "default": default, "sku": self.sku})

    async def require(
        self, connection: AsyncConnection, *, project_id: UUID, region: str, default: int, more: int = 1
    ) -> None:
        """Raise `Problem` quota_exceeded when so much more does not fit."""
        used = await self._used.one(connection, {"project_id": project_id, "region": region})
        limit = await self._limits.find(connection, project_id=project_id, region=region, default=default)
        if used + more > limit:
            sentence = self.exceeded(region, more, used, limit)
            numbers = {"wanted": more, "limit": limit, "used": used}
            why_not = {"reason": "quota", "detail": sentence, "numbers": numbers}
            raise Problem(QUOTA_EXCEEDED, sentence, extra={"why_not": why_not})

    async def change(
        self, connection: AsyncConnection, *, project_id: UUID, region: str, limit: int | None, default: int
    ) -> None:
        """Set the limit; None: the default. Raises `Problem` state_conflict below what there is."""
        used = await self._used.one(connection, {"project_id": project_id, "region": region})
        if used > (default if limit is None else limit):
            sentence = (
                f"{self.above(region, used)}, more than this limit. Choose a higher one, or have some deleted first."
            )
            raise Problem(STATE_CONFLICT, sentence)
        await self._limits.set(connection, project_id=project_id, region=region, limit=limit)
