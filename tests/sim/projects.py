"""A project of a history."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from ipucloud.catalogue.queries import Catalogue
from ipucloud.config import Settings
from ipucloud.kernel.actor import Actor
from tests.sim.database import SimulatedDatabase
from tests.support.world import Customer


@dataclass(frozen=True)
class ProjectOf:
    """A project as the simulated database has it. It has no token: request ids tell a history's requests apart."""

    id: UUID
    database: SimulatedDatabase
    settings: Settings
    catalogue: Catalogue
    crowded: bool = False

    def customer(self, request: str) -> Customer:
        actor = Actor(project_id=self.id, token_id=None, request_id=request)
        return Customer(self.database, lambda: actor, self.settings, self.catalogue)
