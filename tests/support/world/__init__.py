"""The test world: a migrated database of its own, a project that asks for clusters, and a site if a test wants one.

    async with open_world(scratch.app_url) as world:  # machines and hosts are rows; no site
        accepted = await world.create(flavor="m2000-pod4")
        await world.finish_create(accepted.target_id)  # what a worker writes when the last step has succeeded

    async with open_site_world(scratch, site) as world:  # machines and hosts are those of a simulated site
        async with world.worker():
            await world.succeeded(await world.create())

Leaving the block holds every rule of the audit against what is left. `clock` sets the database's time.
"""

from tests.support.world.customer import IMAGE, Customer, cluster_body
from tests.support.world.site_world import CALL_SECONDS, SECRETS_KEY, SiteWorld, open_site_world, opened
from tests.support.world.workers import at_work, worker
from tests.support.world.world import World, authentication, open_world

__all__ = [
    "CALL_SECONDS",
    "IMAGE",
    "SECRETS_KEY",
    "Customer",
    "SiteWorld",
    "World",
    "at_work",
    "authentication",
    "cluster_body",
    "open_site_world",
    "open_world",
    "opened",
    "worker",
]
