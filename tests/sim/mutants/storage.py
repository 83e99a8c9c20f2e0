"""Bugs in snapshots and what is made from them, and in addresses."""

from __future__ import annotations

from ipucloud.clusters.addresses.record import ADDRESS_QUOTA, ADDRESSES
from ipucloud.clusters.operations import create, rebuild
from ipucloud.clusters.resources import reconciler, resource
from ipucloud.clusters.volumes import record, source
from ipucloud.clusters.volumes.record import VOLUME_QUOTA
from ipucloud.clusters.volumes.snapshots import record as snapshot_record
from tests.sim.mutants.planting import Mutant, answers

_SNAPSHOTS = "tests/api/test_snapshots.py"
_ADDRESSES = "tests/api/test_resources.py"
_RACES = "tests/feature/clusters/test_snapshot_races.py"
_nothing = answers(None)

deleted_snapshot_is_billed = Mutant(
    "a snapshot is billed after its deletion", f"{_SNAPSHOTS} -k project_with_snapshots"
).replace(resource, "close_stored", _nothing)

image_in_use_is_deleted = Mutant(
    "an image is deleted while a cluster's servers are made from it", f"{_SNAPSHOTS} -k servers_are_made"
).rewrite(snapshot_record, "_NEEDED", ("LIMIT 1", "LIMIT 0"))

image_is_not_held = (
    Mutant("an image is deleted under a create that has not been committed", f"{_RACES} -k under_servers")
    .replace(create, "hold_image", _nothing)
    .replace(rebuild, "hold_image", _nothing)
)

source_is_not_held = Mutant(
    "a snapshot is deleted under a volume that has not been committed", f"{_RACES} -k under_a_volume"
).rewrite(source, "_FIND", ("FOR NO KEY UPDATE", ""))

copied_volume_is_deleted = Mutant(
    "a volume is deleted while it is copied", f"{_SNAPSHOTS} -k while_a_snapshot_of_it_is_taken"
).rewrite(record, "_COPIED", ("LIMIT 1", "LIMIT 0"))

snapshots_without_quota = Mutant("snapshots do not count in the quota", f"{_SNAPSHOTS} -k count_in_the_quota").replace(
    VOLUME_QUOTA, "require", _nothing
)

deleted_address_is_billed = Mutant(
    "an address is billed after its deletion", f"{_ADDRESSES} -k is_billed_until"
).replace(resource, "close_stored", _nothing)

address_is_free = Mutant("an address is not billed", "tests/worker/test_addresses.py -k outlives").replace(
    reconciler, "open_stored", _nothing
)

address_stays = Mutant(
    "an address stays with a cluster that is deleted", f"{_ADDRESSES} -k clusters_of_its_project"
).replace(ADDRESSES, "detach_all", _nothing)

addresses_without_quota = Mutant("addresses have no quota", f"{_ADDRESSES} -k region_has_a_quota").replace(
    ADDRESS_QUOTA, "require", _nothing
)
