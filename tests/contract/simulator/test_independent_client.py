"""A client made from the published definition alone drives every call, and finds every field where it should be."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from ipucloud.wire import vipu_pb2
from tests.contract.simulator.independent import METHODS, IndependentClient, published_pool
from tests.support.site import RunningSite
from tests.support.vipu import PodDriver, code_of


@pytest.fixture
def client(shared_site: RunningSite, vipu: PodDriver) -> IndependentClient:
    """At the user endpoint of allocation `a`."""
    vipu.take(2)
    return IndependentClient(shared_site.user_channel("a"))


def fields(descriptor: Any) -> dict[str, tuple[int, int, bool, str]]:
    """Every field of a message by name, as far as the wire knows it."""
    return {
        field.name: (
            field.number,
            field.type,
            field.is_repeated,
            (field.message_type or field.enum_type).full_name if field.message_type or field.enum_type else "",
        )
        for field in descriptor.fields
    }


def test_our_definition_is_the_published_one_name_by_name_and_number_by_number() -> None:
    published = published_pool().FindFileByName("independent.proto")
    ours = vipu_pb2.DESCRIPTOR
    for name, enum in published.enum_types_by_name.items():
        assert {v.name: v.number for v in ours.enum_types_by_name[name].values} == {
            v.name: v.number for v in enum.values
        }
    waiting = [(ours.message_types_by_name[name], message) for name, message in published.message_types_by_name.items()]
    assert set(ours.message_types_by_name) - {"Allocation", "AllocationSpec"} == set(published.message_types_by_name)
    while waiting:
        own, published_message = waiting.pop()
        assert fields(own) == fields(published_message)
        waiting += [
            (own.nested_types_by_name[name], nested) for name, nested in published_message.nested_types_by_name.items()
        ]
    assert {m.name: s.name for s in ours.services_by_name.values() for m in s.methods} == METHODS


def test_every_call_and_every_field(client: IndependentClient, vipu: PodDriver) -> None:
    assert client.call("GetVersion").version == "1.18.0"
    requirements = {"id": "p", "size": 8, "num_gcds": 2, "allocation_id": "a", "reconfigurable": True}
    assert client.call("CreatePartition", requirements=requirements, relocatable=True).partition_id == "p"

    status = client.call("GetPartitionStatus", partition_id="p").status
    assert (status.partition_id, status.ready_state, status.operation_state) == ("p", 2, 1)
    assert (list(status.errors), status.max_auto_reset_retries, status.auto_reset_retry_count) == ([], 3, 0)

    (listed,) = client.call("ListPartitions", allocation_id="a").partitions
    spec = listed.spec
    assert (listed.id, listed.ready_state, spec.allocation_id, spec.cluster_id) == ("p", 2, "a", vipu.cluster)
    assert listed.ipuof_server_version
    assert (spec.sync_type, spec.ipulink_routing_type, spec.gw_routing_type) == (1, 1, 0)
    assert (spec.num_gcds, spec.num_replicas, spec.num_ipulink_segments, spec.reconfigurable) == (2, 2, 1, True)
    assert [(ipu.topology_id, ipu.routing_id) for ipu in spec.ipus[:5]] == [(3, 0), (2, 1), (1, 2), (0, 3), (7, 4)]

    config = client.call("GetPartitionIpuofConfig", partition_id="p", gcd_id={"id": 1}).ipuof_config
    (gcd,) = config.gcd_configs
    assert gcd.attributes["GCD Id"] == "1"
    assert [(d.ip, d.ipu_id, d.server_port, d.device_id, d.routing_id) for d in gcd.devices] == [
        ("10.5.1.2", 3, 50055, 0, 4),
        ("10.5.1.2", 2, 50054, 1, 5),
        ("10.5.1.2", 1, 50053, 2, 6),
        ("10.5.1.2", 0, 50052, 3, 7),
    ]
    assert all(d.chip_id and d.gwsw_version and d.ipum_sw_version and d.rdma_port for d in gcd.devices)
    assert len({d.chip_id for d in gcd.devices}) == 4
    assert {d.ipu_arch_id for d in gcd.devices} == {2}
    assert len(client.call("GetPartitionIpuofConfig", partition_id="p").ipuof_config.gcd_configs) == 2

    (entry,) = client.call("ListIPUAttributes", agents=[vipu.pod[1]]).entries
    assert entry.ipu_attributes[3].attributes["ipuof routing id"] == "4"

    client.call("ResetPartition", partition_id="p")
    client.call("RemovePartition", partition_id="p", force=True)
    assert len(client.call("ListPartitions").partitions) == 0
    with pytest.raises(grpc.RpcError) as caught:
        client.call("GetPartitionStatus", partition_id="p")
    assert code_of(caught.value) is grpc.StatusCode.NOT_FOUND
