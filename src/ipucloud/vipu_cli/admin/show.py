"""What `vipu-admin` prints. Pure.

The rows and columns of `get agent` and `discover agent` are those of the vendor's samples. What the administration
service does not tell is a dash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ipucloud.vipu_cli.admin.arguments import AGENT_PORT
from ipucloud.vipu_cli.show import Row, plain, table
from ipucloud.vipu_cli.spellings import word
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as pb

UNKNOWN = "-"
REPORTED = (
    "Exporter",
    "Platform",
    "Manufacturer",
    "Discovery Mode",
    "Runtime version",
    "Part number",
    "GWSW Version",
    "IPUoF server version",
    "HDF Version",
    "HDF Hash",
)
"""Rows of the vendor's sample with what the agent reports of itself."""
TILES = {"ipu1": 1216, "ipu2": 1472, "ipu21": 1472}
"""By architecture."""


def agents(items: Sequence[admin.Agent]) -> str:
    """`vipu-admin list agents`."""
    rows = [
        (each.id, each.host, _status(each), each.cluster_id or UNKNOWN, each.allocation_id or UNKNOWN)
        for each in sorted(items, key=lambda agent: agent.id)
    ]
    return table(("Agent ID", "Host", "Status", "Cluster ID", "Allocation ID"), rows)


def agent(item: admin.Agent, version: str, ipus: Mapping[int, Mapping[str, str]]) -> str:
    """`vipu-admin get agent`: what is known of the agent, then its IPUs."""
    serials = dict.fromkeys(attributes.get("board serial number", UNKNOWN) for attributes in ipus.values())
    rows = [
        ("Agent ID", item.id),
        ("Host", item.host),
        ("Port", str(AGENT_PORT)),
        ("Status", _status(item)),
        *((name, item.properties.get(name, UNKNOWN)) for name in REPORTED),
        ("Virm version", version),
        ("Board serial number", " ".join(serials) or UNKNOWN),
        ("Num of IPUs", str(len(ipus))),
        ("Cluster ID", item.cluster_id or UNKNOWN),
        ("Allocation ID", item.allocation_id or UNKNOWN),
        ("Pod", f"{item.pod} (slot {item.slot})"),
    ]
    return table(("Property", "Value"), rows) + table(
        ("IPU", "PCI", "Device", "Firmware", "Architecture", "Num Tiles"),
        [_device(number, attributes) for number, attributes in sorted(ipus.items())],
    )


def _device(number: int, attributes: Mapping[str, str]) -> Row:
    architecture = attributes.get("ipu architecture", UNKNOWN)
    tiles = str(TILES[architecture]) if architecture in TILES else UNKNOWN
    return str(number), str(number), UNKNOWN, attributes.get("firmware version", UNKNOWN), architecture, tiles


def discovered(items: Sequence[admin.Agent]) -> str:
    """`vipu-admin discover agent`. Our service does not say by which interface an agent was seen, nor when."""
    heads = ("Host", "Port", "Network Interface", "Time Since Last Seen", "Agent Auto-Add ID")
    return table(heads, [(each.host, str(AGENT_PORT), UNKNOWN, UNKNOWN, each.id) for each in items])


def clusters(items: Sequence[admin.Cluster]) -> str:
    """`vipu-admin list clusters`, and `get cluster` for one."""
    rows = [
        (
            each.id,
            word(admin.Topology, each.topology).lower(),
            str(each.num_ipulink_domains),
            word(admin.GatewayTopology, each.gateway_topology).lower(),
            str(len(each.agent_ids)),
            " ".join(each.agent_ids),
        )
        for each in items
    ]
    return table(("Cluster ID", "Topology", "ILDs", "GW Topology", "Size", "Agents"), rows)


def users(items: Sequence[admin.User]) -> str:
    """`vipu-admin list users`."""
    return table(
        ("User ID", "Allocations", "Access Keys"),
        [
            (each.id, "all" if each.all_allocations else " ".join(each.allocation_ids), " ".join(each.access_key_ids))
            for each in items
        ],
    )


def allocations(items: Sequence[admin.Allocation]) -> str:
    """`vipu-admin list allocations`, and `get allocation` for one."""
    rows = [(each.id, " ".join(each.agent_ids), _endpoint(each) or UNKNOWN) for each in items]
    return table(("Allocation ID", "Agents", "Endpoint"), rows)


def allocation(item: admin.Allocation) -> dict[str, object]:
    """An allocation in the published form, `.spec.agent_ids`, and the user endpoint that its customer calls."""
    spec = pb.AllocationSpec(cluster_id=item.cluster_id, agent_ids=item.agent_ids)
    return plain(pb.Allocation(id=item.id, spec=spec)) | {"endpoint": _endpoint(item)}


def _endpoint(item: admin.Allocation) -> str | None:
    return f"{item.endpoint_host}:{item.endpoint_port}" if item.endpoint_host else None


def test(cluster_test: admin.ClusterTest) -> str:
    """`vipu-admin test cluster`: a row for every kind, then the links and agents that failed."""
    rows = [
        (_kind(result), word(admin.TestState, result.state), str(len(result.links)), result.detail or UNKNOWN)
        for result in cluster_test.results
    ]
    failed = list(_failures(cluster_test))
    shown = table(("Test", "Result", "Checked", "Detail"), rows)
    return shown + table(("Test", "From", "To", "Detail"), failed) if failed else shown


def _failures(cluster_test: admin.ClusterTest) -> Iterator[Row]:
    for result in cluster_test.results:
        for link in result.links:
            if not link.passed:
                yield _kind(result), link.from_agent, link.to_agent, link.detail


def _kind(result: admin.TestResult) -> str:
    return word(admin.TestKind, result.kind).lower().replace("_", "-")


def _status(agent: admin.Agent) -> str:
    return "Up" if agent.reachable else "Down"
