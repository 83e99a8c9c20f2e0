"""Bugs in snapshots, and in what is made from them."""

from __future__ import annotations

from contextlib import ExitStack

from ipucloud.clusters.operations import create, rebuild
from ipucloud.clusters.resources import resource
from ipucloud.clusters.volumes import record, source
from ipucloud.clusters.volumes.record import VOLUME_QUOTA
from ipucloud.clusters.volumes.snapshots import record as snapshot_record
from tests.sim.mutants.planting import mutant, replace, rewrite

_API = "tests/api/test_snapshots.py"
_RACES = "tests/feature/clusters/test_snapshot_races.py"


async def _nothing(*_: object, **__: object) -> None:
    return None


@mutant("a snapshot is billed after its deletion", directed=f"{_API} -k project_with_snapshots")
def deleted_snapshot_is_billed(stack: ExitStack) -> None:
    replace(stack, resource, "close_stored", _nothing)


@mutant("an image is deleted while a cluster's servers are made from it", directed=f"{_API} -k servers_are_made")
def image_in_use_is_deleted(stack: ExitStack) -> None:
    rewrite(stack, snapshot_record, "_NEEDED", ("LIMIT 1", "LIMIT 0"))


@mutant("an image is deleted under a create that has not been committed", directed=f"{_RACES} -k under_servers")
def image_is_not_held(stack: ExitStack) -> None:
    replace(stack, create, "hold_image", _nothing)
    replace(stack, rebuild, "hold_image", _nothing)


@mutant("a snapshot is deleted under a volume that has not been committed", directed=f"{_RACES} -k under_a_volume")
def source_is_not_held(stack: ExitStack) -> None:
    rewrite(stack, source, "_FIND", ("FOR NO KEY UPDATE", ""))


@mutant("a volume is deleted while it is copied", directed=f"{_API} -k while_a_snapshot_of_it_is_taken")
def copied_volume_is_deleted(stack: ExitStack) -> None:
    rewrite(stack, record, "_COPIED", ("LIMIT 1", "LIMIT 0"))


@mutant("snapshots do not count in the quota", directed=f"{_API} -k count_in_the_quota")
def snapshots_without_quota(stack: ExitStack) -> None:
    replace(stack, VOLUME_QUOTA, "require", _nothing)
