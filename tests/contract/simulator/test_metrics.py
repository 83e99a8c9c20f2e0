"""What the site tells Prometheus of its controllers and machines."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.site import RunningSite, running_site
from tests.support.vipu import VipuDriver

REGION = "luxembourg-2"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("metrics"), options=["--machines-on", "--metrics-port", "0"]) as site:
        yield site


def read(url: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    text = httpx.get(url, timeout=60.0).raise_for_status().text
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def sample(samples: dict[tuple[str, frozenset[tuple[str, str]]], float], name: str, **labels: str) -> float:
    return samples[name, frozenset(labels.items())]


def test_the_controller_counts_what_it_has_and_what_it_was_asked(site: RunningSite) -> None:
    vipu = VipuDriver(site.user_channel(), site.admin_channel())
    machine = site.region().pods[0].machines[0].name
    vipu.allocate("a", site.region().pods[0].cluster_id or "", [machine])
    vipu.create("p", 4)
    vipu.status("p")
    samples = read(site.metrics)
    assert sample(samples, "vipu_agents", region=REGION, reachable="true") == 32
    assert sample(samples, "vipu_allocations", region=REGION) == 1
    states = {"ready_state": "PS_ACTIVE", "operation_state": "POS_IDLE"}
    assert sample(samples, "vipu_partitions", region=REGION, **states) == 1
    assert sample(samples, "vipu_calls_total", region=REGION, call="vipu.CreatePartition", status="OK") == 1

    site.http().post(f"/v1/machines/{machine}/links/next:fail", json={"state": "degraded"}).raise_for_status()
    told = read(site.metrics.removesuffix("/metrics") + f"/machines/{machine}/metrics")
    assert sample(told, "ipum_up", machine=machine) == 1
    link = {"machine": machine, "link": "next", "to": site.region().pods[0].machines[1].name}
    assert sample(told, "ipum_link_state", **link, state="degraded") == 1
    assert sample(told, "ipum_link_state", **link, state="up") == 0
    partition = {"partition": "p", "allocation": "a", **states}
    assert sample(told, "ipum_partition_state", machine=machine, **partition) == 1
    for number in "0123":
        assert sample(told, "ipum_ipu_power_watts", machine=machine, ipu=number) > 100
        assert sample(told, "ipum_ipu_temperature_celsius", machine=machine, ipu=number) > 50
        assert sample(told, "ipum_link_correctable_errors_total", machine=machine, ipu=number) > 0

    idle = site.region().pods[0].machines[5].name
    rest = read(site.metrics.removesuffix("/metrics") + f"/machines/{idle}/metrics")
    assert sample(rest, "ipum_ipu_power_watts", machine=idle, ipu="0") < 100


def test_a_machine_that_is_silent_has_no_sensors(site: RunningSite) -> None:
    machine = site.region().pods[0].machines[7].name
    site.http().post(f"/v1/machines/{machine}:fail").raise_for_status()
    told = read(site.metrics.removesuffix("/metrics") + f"/machines/{machine}/metrics")
    assert sample(told, "ipum_up", machine=machine) == 0
    assert not [name for name, _ in told if name == "ipum_ipu_power_watts"]


def test_every_machine_is_discovered(site: RunningSite) -> None:
    base = site.metrics.removesuffix("/metrics")
    found = httpx.get(f"{base}/machines", timeout=60.0).json()
    first = found[0]
    assert len(found) == 64
    assert f"http://{first['targets'][0]}" == base
    assert httpx.get(base + first["labels"]["__metrics_path__"], timeout=60.0).status_code == 200
    assert httpx.get(f"{base}/machines/none/metrics", timeout=60.0).status_code == 404


def test_its_port_is_kept(site: RunningSite) -> None:
    before = site.metrics
    site.restart()
    assert site.metrics == before
