"""The shipped catalogue holds the vendors' facts and agrees with itself."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ipucloud.catalogue.load import load
from ipucloud.contract.catalogue import AllocatedThrough, Flavor, ToolKind
from ipucloud.contract.recipes import RecipeTask
from ipucloud.inventory.allocator import SIZES
from ipucloud.inventory.snapshot import DOMAIN

CATALOGUE = load()


def test_every_row_has_a_source_and_every_source_is_used() -> None:
    rows = (
        CATALOGUE.ipus,
        CATALOGUE.machine_types,
        CATALOGUE.pods,
        CATALOGUE.regions,
        CATALOGUE.flavors,
        CATALOGUE.images,
        CATALOGUE.tools,
        CATALOGUE.recipes,
        CATALOGUE.articles,
        CATALOGUE.prices,
        [comparison for machine in CATALOGUE.machine_types for comparison in machine.comparisons],
    )
    assert {row.source.id for table in rows for row in table} == {source.id for source in CATALOGUE.sources}


@pytest.mark.parametrize(
    ("ipu", "figures"),
    [
        ("gc2", (1216, 250, 300, 45, 1.3)),
        ("gc200", (1472, 250, 900, 47.5, 1.325)),
        ("c600", (1472, 280, 900, None, None)),
        ("bow", (1472, 350, 900, 65.4, 1.85)),
    ],
)
def test_ipu_generations(ipu: str, figures: tuple[float | None, ...]) -> None:
    generation = CATALOGUE.find_ipu(ipu)
    assert generation is not None
    assert figures == (
        generation.cores,
        generation.fp16_tflops,
        generation.in_processor_memory_mb,
        generation.memory_bandwidth_tb_per_s,
        generation.clock_ghz,
    )
    assert generation.threads == 6 * generation.cores


@pytest.mark.parametrize("machine_type", ["m2000", "bow-2000", "c600-server", "dss8440"])
def test_a_machine_is_the_sum_of_its_ipus(machine_type: str) -> None:
    machine = CATALOGUE.find_machine_type(machine_type)
    assert machine is not None
    ipu = CATALOGUE.find_ipu(machine.ipu)
    assert ipu is not None
    assert (machine.cores, machine.threads) == (machine.ipus * ipu.cores, machine.ipus * ipu.threads)
    assert machine.in_processor_memory_gb == pytest.approx(machine.ipus * ipu.in_processor_memory_mb / 1000)
    if machine_type == "dss8440":
        assert (machine.ai_pflops, "Sources disagree" in (ipu.notes or "")) == (1.6, True)
    else:
        assert machine.ai_pflops == pytest.approx(machine.ipus * ipu.fp16_tflops / 1000, rel=0.01)


def test_a_flavor_says_how_many_poplar_servers_its_size_can_have() -> None:
    ranges = {each.name: (each.poplar_servers_min, each.poplar_servers_max) for each in CATALOGUE.flavors}
    assert (ranges["m2000-pod16"], ranges["m2000-pod64"], ranges["bow-pod256"]) == ((1, 1), (1, 4), (4, 16))
    assert ranges["c600-8"] == (1, 1)


def test_what_v_ipu_does_not_manage() -> None:
    through = {machine.id: machine.allocated_through for machine in CATALOGUE.machine_types}
    assert {name for name, how in through.items() if how is AllocatedThrough.V_IPU} == {"m2000", "bow-2000"}
    assert {name for name, how in through.items() if how is AllocatedThrough.HOST_DEVICES} == {"c600-server", "dss8440"}


def test_pods_are_the_sizes_that_can_be_placed() -> None:
    assert tuple(pod.machines for pod in CATALOGUE.pods) == SIZES
    for pod in CATALOGUE.pods:
        assert pod.name == f"POD{pod.ipus}"
        assert pod.ipus == 4 * pod.machines
        assert pod.ipu_link_domains == max(1, pod.machines // DOMAIN)
        assert pod.host_servers_min <= pod.host_servers_max
        assert pod.ai_pflops["m2000"] == pod.machines
        assert pod.ai_pflops["bow-2000"] == pytest.approx(1.394 * pod.machines, rel=0.01)


def test_each_region_sells_every_size_of_its_machines() -> None:
    sizes = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
    luxembourg = [flavor.name for flavor in CATALOGUE.flavors_in("luxembourg-2")]
    amsterdam = [flavor.name for flavor in CATALOGUE.flavors_in("amsterdam-2")]
    assert luxembourg == [f"m2000-pod{size}" for size in sizes]
    assert amsterdam == [f"bow-pod{size}" for size in sizes]
    assert CATALOGUE.flavors_in("atlantis-1") == ()


def test_the_laboratory_sells_servers_with_ipus_of_their_own() -> None:
    sold = {flavor.name: flavor for flavor in CATALOGUE.flavors_in("lab-1")}
    assert {name: flavor.ipus for name, flavor in sold.items()} == {
        "c600-1": 1,
        "c600-2": 2,
        "c600-4": 4,
        "c600-8": 8,
        "dss8440-16": 16,
    }
    assert {(flavor.machines, flavor.poplar_servers, flavor.pod) for flavor in sold.values()} == {(1, 1, None)}
    assert {flavor.allocated_through for flavor in sold.values()} == {AllocatedThrough.HOST_DEVICES}
    assert (sold["c600-2"].sku, sold["c600-2"].ai_pflops, sold["c600-2"].in_processor_memory_gb) == (
        "ipu-c600-2",
        0.56,
        1.8,
    )
    assert CATALOGUE.images_in("lab-1")


def test_a_flavor_says_what_follows_from_its_machines() -> None:
    flavor = CATALOGUE.find_flavor("bow-pod64")
    assert isinstance(flavor, Flavor)
    assert (flavor.machine_type, flavor.sku) == ("bow-2000", "ipu-bow-2000")
    assert (flavor.machines, flavor.ipus, flavor.poplar_servers) == (16, 64, 1)
    assert (flavor.ai_pflops, flavor.in_processor_memory_gb) == (22.4, 57.6)


def test_regions_are_found_by_slug_and_by_number() -> None:
    for region in CATALOGUE.regions:
        assert CATALOGUE.find_region(region.slug) is CATALOGUE.find_region(str(region.number)) is region
    assert [region.slug for region in CATALOGUE.regions] == ["luxembourg-2", "amsterdam-2", "lab-1"]


@pytest.mark.parametrize("ref", ["", "0", "01", "luxembourg", "LUXEMBOURG-2"])
def test_what_does_not_exist_is_none(ref: str) -> None:
    assert CATALOGUE.find_region(ref) is None
    assert CATALOGUE.find_flavor(ref) is None
    assert CATALOGUE.find_image(ref) is None
    assert CATALOGUE.find_ipu(ref) is None
    assert CATALOGUE.find_machine_type(ref) is None
    assert CATALOGUE.find_tool(ref) is None
    assert CATALOGUE.find_recipe(ref) is None


def test_images_say_their_versions() -> None:
    image = CATALOGUE.find_image("ubuntu-20.04-x64-poplar-1.18.0-3.0.0")
    assert image is not None
    assert (image.os_version, image.vipu_version, image.sdk_version) == ("20.04", "1.18.0", "3.0.0")
    assert image in CATALOGUE.images_in("luxembourg-2")
    assert {image.os_version for image in CATALOGUE.images_in("luxembourg-2")} == {"20.04"}
    assert {image.os_version for image in CATALOGUE.images_in("amsterdam-2")} == {"20.04", "18.04"}


def test_software_and_model_garden_are_complete() -> None:
    kinds = [kind for tool in CATALOGUE.tools for kind in tool.kinds]
    assert {kind: kinds.count(kind) for kind in ToolKind} == {
        ToolKind.FRAMEWORK: 7,
        ToolKind.DATA_PLATFORM: 4,
        ToolKind.LANGUAGE: 4,
        ToolKind.DATA_RESOURCE: 7,
        ToolKind.VISUALISATION: 3,
        ToolKind.SDK: 11,
    }
    assert {recipe.task for recipe in CATALOGUE.recipes} == set(RecipeTask)
    assert {recipe.id for recipe in CATALOGUE.recipes if recipe.poprt_benchmark} == {
        "albert",
        "bert-base",
        "conformer",
        "resnet50-v1.5",
        "roformer",
        "wide-and-deep",
    }


def test_the_price_list_is_exact_synthetic_and_fit_for_billing() -> None:
    prices = {(row.sku, row.region, row.currency): row.unit_price for row in CATALOGUE.prices if row.valid_to is None}
    assert len(prices) == len(CATALOGUE.prices)
    assert 4 * prices["ipu-m2000", "luxembourg-2", "EUR"] == Decimal("0.25")
    assert 4 * prices["ipu-bow-2000", "amsterdam-2", "EUR"] == Decimal("0.35")
    for region in CATALOGUE.regions:
        for article in ("volume-gib", "address"):
            assert 0 < prices[article, region.slug, "EUR"] < Decimal("0.001")
    assert [CATALOGUE.unit_of(sku) for sku in ("volume-gib", "address", "ipu-m2000")] == [
        "GiB-minute",
        "address-minute",
        "machine-minute",
    ]
    assert all(row.synthetic and row.source.id == "synthetic" for row in CATALOGUE.prices)
    assert '"unit_price":"0.0625"' in CATALOGUE.prices[0].model_dump_json()
