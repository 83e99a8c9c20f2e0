"""The steps that maintain and remove a cluster's user at a secure V-IPU controller."""

from __future__ import annotations

from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.step_objects import controller
from ipucloud.clusters.vipu_access import Access
from ipucloud.operations.results import Achieved, Failed, Pending, StepResult
from ipucloud.site.ports import Site
from ipucloud.site.vipu_ports import VipuUser


async def keep_vipu_user(site: Site, cluster: ClusterInputs) -> StepResult:
    """The cluster's user sees its allocation, and has exactly the keys that it should have."""
    access, name = cluster.access, cluster.external_name
    if access is None:
        return Failed("the V-IPU controller has no users", final=True)
    if access.server is None:
        return Failed("the installation has no key to derive access keys from; its operator must set one", final=True)
    user = await site.vipu.user(name)
    if user is None:
        await site.vipu.create_user(name)
        user = await site.vipu.user(name)
    if user is None:
        return Pending(f"{controller(cluster)} makes user {name}")
    if not _sees_its_allocation(user):
        await site.vipu.set_user_allocation(name, name)
    await _set_keys(site, access, user)
    user = await site.vipu.user(name)
    if user is None or not _sees_its_allocation(user):
        return Pending(f"{controller(cluster)} lets user {name} see allocation {name}")
    if not user.keys >= access.desired.keys() or not all(map(access.keeps, user.keys)):
        return Pending(f"{controller(cluster)} replaces the access keys of user {name}")
    return Achieved()


def _sees_its_allocation(user: VipuUser) -> bool:
    return user.allocations == {user.id} and not user.everything


async def _set_keys(site: Site, access: Access, user: VipuUser) -> None:
    for key, digest in access.desired.items():
        if key not in user.keys:
            await site.vipu.create_access_key(user.id, key, digest)
    for key in sorted(user.keys):
        if not access.keeps(key):
            await site.vipu.remove_access_key(user.id, key)


async def remove_vipu_user(site: Site, cluster: ClusterInputs) -> StepResult:
    """Its access keys go with it: the controller rejects all of them."""
    if cluster.access is not None and await site.vipu.user(cluster.external_name) is not None:
        await site.vipu.remove_user(cluster.external_name)
        if await site.vipu.user(cluster.external_name) is not None:
            return Pending(f"{controller(cluster)} removes user {cluster.external_name}")
    return Achieved()
