"""A catalogue that contradicts itself is refused as a whole, and every fault says where it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ipucloud.catalogue.checks import MACHINES, CatalogueError
from ipucloud.catalogue.files import NAMES
from ipucloud.catalogue.load import SHIPPED, load
from ipucloud.inventory.allocator import SIZES
from tests.support.catalogues import export


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return export(tmp_path / "data")


def refusal_of(folder: Path) -> CatalogueError:
    with pytest.raises(CatalogueError) as refused:
        load(folder)
    return refused.value


def edit(folder: Path, file: str, change: Callable[[str], str]) -> None:
    path = folder / f"{file}.toml"
    path.write_text(change(path.read_text("utf-8")), "utf-8")


def test_the_shipped_files_are_those_that_are_read_and_a_copy_is_the_same(folder: Path) -> None:
    assert load(folder) == load()
    assert {f"{name}.toml" for name in NAMES} == {file.name for file in SHIPPED.iterdir()}
    assert MACHINES == SIZES


def swap(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


def add(rows: str) -> Callable[[str], str]:
    return lambda text: f"{text}\n{rows}"


PRICE = """
[[rows]]
sku = "ipu-m2000"
region = "luxembourg-2"
currency = "EUR"
unit_price = "0.07"
valid_from = {}
synthetic = true
source = "synthetic"
"""

BROKEN = {
    "ipus": {
        "unknown source": (
            swap('source = "graphcore-c600"', 'source = "hearsay"'),
            "row c600: source: there is no such source in sources.toml",
        ),
    },
    "regions": {
        "no source": (swap('source = "gcore-docs"', ""), "row luxembourg-2: source: Field required"),
        "unknown machine in a region": (
            swap('["bow-2000"]', '["bow-2000", "bow"]'),
            "row amsterdam-2: machine_types: there is no bow",
        ),
        "flavor of a machine that is not sold there": (
            swap('machine_types = ["m2000"]', "machine_types = []"),
            "flavors.toml, row m2000-pod4: regions: luxembourg-2 does not sell its machine type",
        ),
        "two regions of one number": (
            swap("number = 2", "number = 1"),
            "row amsterdam-2: number: another region has it",
        ),
        "region with another one's number for a slug": (
            add(
                '[[rows]]\nslug = "1"\nname = "One"\nnumber = 4\ncountry = "LU"\n'
                'machine_types = []\nsource = "synthetic"\n'
            ),
            "row 1: slug: a slug of digits alone could be another region's number",
        ),
        "region that is no country": (
            swap('country = "NL"', 'country = "Nederland"'),
            "row amsterdam-2: country: String should match pattern",
        ),
        "rows under another name": (add('[[row]]\nslug = "x"'), "regions.toml: `row` is not known; rows are in `rows`"),
    },
    "machine_types": {
        "unknown IPU": (swap('ipu = "bow"', 'ipu = "bow2"'), "row bow-2000: ipu: there is no bow2"),
        "machine without a SKU": (
            swap('sku = "ipu-m2000"', ""),
            "flavors.toml, row m2000-pod4: machine_type: it has no SKU for billing",
        ),
        "unknown field": (
            swap("ipus = 8\n", 'ipus = 8\nremarks = ""\n'),
            "row c600-server: remarks: Extra inputs are not permitted",
        ),
        "comparison without its source": (
            swap('source = "crn-m2000"', 'source = "hearsay"'),
            "row m2000: comparisons.1.source: there is no such source in sources.toml",
        ),
        "figure that is no number": (
            swap("ai_pflops = 1.0", "ai_pflops = nan"),
            "row m2000: ai_pflops: Input should be a finite number",
        ),
        "machine without IPUs": (swap("ipus = 8\n", "ipus = 0\n"), "row c600-server: ipus"),
    },
    "flavors": {
        "unknown machine type": (
            swap('machine_type = "m2000"', 'machine_type = "m3000"'),
            "row m2000-pod4: machine_type: there is no m3000",
        ),
        "unknown pod": (swap('pod = "pod8"', 'pod = "pod9"'), "row m2000-pod8: pod: there is no pod9"),
        "unknown region of a flavor": (
            swap('"amsterdam-2"', '"amsterdam-3"'),
            "row bow-pod4: regions: there is no amsterdam-3",
        ),
        "flavor that is sold nowhere": (
            swap('regions = ["luxembourg-2"]', "regions = []"),
            "row m2000-pod4: regions: Tuple should have at least 1 item after validation, not 0",
        ),
        "pod that says its IPUs": (
            swap('pod = "pod8"', 'pod = "pod8"\nipus = 8'),
            "row m2000-pod8: ipus: a pod has its own",
        ),
        "more Poplar servers than the pod can have": (
            swap("poplar_servers = 1", "poplar_servers = 2"),
            "row m2000-pod4: poplar_servers: the pod has 1 to 1",
        ),
        "server with two Poplar servers": (
            swap("ipus = 8\npoplar_servers = 1", "ipus = 8\npoplar_servers = 2"),
            "row c600-8: poplar_servers: the machine is the one Poplar server",
        ),
        "servers that are joined to a pod": (
            swap("ipus = 8\n", 'pod = "pod8"\n'),
            "row c600-8: pod: machines that are servers of their own are not joined to pods",
        ),
        "server that opens more IPUs than it has": (
            swap("ipus = 16\npoplar", "ipus = 32\npoplar"),
            "row dss8440-16: ipus: the machine type has 1 to 16",
        ),
        "server that does not say its IPUs": (swap("ipus = 8\n", ""), "row c600-8: ipus: the machine type has 1 to 8"),
        "machine under V-IPU without a pod": (
            swap('pod = "pod4"\n', ""),
            "row m2000-pod4: pod: machines under V-IPU are sold as pods",
        ),
    },
    "images": {
        "unknown region of an image": (
            swap('"amsterdam-2"', '"amsterdam-3"'),
            "row ubuntu-20.04-x64-poplar-1.18.0-3.0.0: regions: there is no amsterdam-3",
        ),
        "region without an image": (
            swap(', "lab-1"', ""),
            "regions.toml, row lab-1: flavors are sold there, but images.toml offers no image there",
        ),
        "misspelt field": (
            swap("sdk_version", "sdk_versoin"),
            "row ubuntu-20.04-x64-poplar-1.18.0-3.0.0: sdk_version: Field required",
        ),
        "image named after other versions": (swap('"1.18.0"', '"1.19.0"'), "named ubuntu-20.04"),
    },
    "prices": {
        "unknown region of a price": (
            add(PRICE.format("2030-01-01T00:00:00Z").replace("luxembourg-2", "luxembourg-3")),
            "row ipu-m2000 luxembourg-3 EUR 2030-01-01 00:00:00+00:00: region: there is no luxembourg-3",
        ),
        "unknown SKU of a price": (
            add(PRICE.format("2030-01-01T00:00:00Z").replace("ipu-m2000", "ipu")),
            "row ipu luxembourg-2 EUR 2030-01-01 00:00:00+00:00: sku: there is no ipu",
        ),
        "flavor without a price": (
            swap('region = "amsterdam-2"', 'region = "luxembourg-2"'),
            "flavors.toml, row bow-pod4: regions: it has no price in amsterdam-2",
        ),
        "price as a float": (swap('"0.0625"', "0.0625"), "unit_price: an amount is never a float: write it as text"),
        "negative price": (swap('"0.0625"', '"-0.01"'), "a price is not negative"),
        "price beyond the limit": (swap('"0.0625"', '"1000000"'), "unit_price: a price is below 1,000,000"),
        "price in a currency that is not billed": (
            swap('"EUR"', '"ZZQ"'),
            "currency: ZZQ is not the ISO 4217 code of a currency in use",
        ),
        "price without a zone": (swap("00:00:00Z", "00:00:00"), "valid_from"),
        "price within a second": (swap("00:00:00Z", "00:00:00.5Z"), "valid_from: prices change at whole seconds"),
        "price that ends before it begins": (
            swap("valid_from", "valid_to = 2019-01-01T00:00:00Z\nvalid_from"),
            "valid_to: a price ends after it begins",
        ),
        "price without a successor": (
            swap("valid_from", "valid_to = 2027-01-01T00:00:00Z\nvalid_from"),
            "valid_to: no price follows",
        ),
        "two prices at once": (
            add(PRICE.format("2030-01-01T00:00:00Z")),
            "valid_from: it overlaps the price from 2020-01-01 00:00:00+00:00 on",
        ),
    },
    "pods": {
        "unknown machine in a pod": (
            swap("bow-2000 = 1.4", "bow-2000 = 1.4, bow = 1.4"),
            "row pod4: ai_pflops: there is no bow",
        ),
        "pod whose IPUs do not add up": (
            swap("ipus = 16\n", "ipus = 12\n"),
            "flavors.toml, row m2000-pod16: pod: its machines do not have that many IPUs",
        ),
        "pod of a size that cannot be placed": (
            add(
                '[[rows]]\nid = "pod12"\nname = "POD12"\nipus = 12\nmachines = 3\nipu_link_domains = 1\n'
                'host_servers_min = 1\nhost_servers_max = 1\nai_pflops = { m2000 = 3 }\nsource = "scaled"\n'
            ),
            "row pod12: machines: a pod has 1 to 256 machines, a power of two",
        ),
        "pod without figures for a machine": (
            swap("m2000 = 4, ", ""),
            "flavors.toml, row m2000-pod16: pod: it has no AI compute for the machine type",
        ),
    },
    "tools": {
        "row twice": (swap('id = "keras"', 'id = "pytorch"'), "row pytorch: the row is duplicated"),
        "row without its key": (swap('id = "keras", ', ""), "row number 2: id: Field required"),
        "file that is no TOML": (add("[["), "tools.toml: the file is not TOML"),
        "rows that are no tables": (lambda _: "rows = [1]", "tools.toml: the file needs an array of tables"),
    },
    "recipes": {
        "unknown task": (swap('"speech"', '"singing"'), "row rnn-t: task"),
    },
    "sources": {
        "file without rows": (lambda _: "", "sources.toml: the file needs an array of tables `rows`"),
    },
}
"""By the file that is spoiled. A fault that begins with `row` is of the same file."""
CASES = [(file, change, says) for file, cases in BROKEN.items() for change, says in cases.values()]


@pytest.mark.parametrize(("file", "change", "says"), CASES, ids=[name for cases in BROKEN.values() for name in cases])
def test_a_fault_names_file_row_and_field(folder: Path, file: str, change: Callable[[str], str], says: str) -> None:
    edit(folder, file, change)
    refused = refusal_of(folder)
    expected = f"{file}.toml, {says}" if says.startswith("row ") else says
    assert expected in "\n".join(map(str, refused.faults))
    assert str(refused).startswith(f"The catalogue in {folder} is not valid. {refused.faults[0]}")


def test_machines_under_v_ipu_have_four_ipus(folder: Path) -> None:
    edit(folder, "machine_types", lambda text: re.sub(r"^ipus = 4$", "ipus = 8", text, count=1, flags=re.MULTILINE))
    edit(folder, "flavors", lambda text: re.sub(r"\[\[rows\]\]\nname = \"m2000-.*?\n\n", "", text, flags=re.DOTALL))
    assert "machine_types.toml, row m2000: ipus: machines under V-IPU have 4" in map(str, refusal_of(folder).faults)


def test_every_fault_is_found_and_the_message_counts_those_it_leaves_out(folder: Path) -> None:
    edit(folder, "tools", lambda text: text.replace('name = "', 'nmae = "'))
    refused = refusal_of(folder)
    assert len(refused.faults) == 2 * len(load().tools)
    assert str(refused).endswith(f"and {len(refused.faults) - 5} more, which `ipucloud catalogue check` lists")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (Path.unlink, "recipes.toml: the file cannot be read: No such file or directory"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "recipes.toml: the file is not TOML"),
    ],
    ids=["missing", "not text"],
)
def test_a_file_that_cannot_be_read_is_named(folder: Path, spoil: Callable[[Path], object], says: str) -> None:
    spoil(folder / "recipes.toml")
    assert says in str(refusal_of(folder))


def test_a_digest_is_that_of_the_files(folder: Path) -> None:
    before = load(folder).digest
    edit(folder, "regions", swap('name = "Lab-1"', 'name = "Laboratory"'))
    assert re.fullmatch(r"[0-9a-f]{12}", before)
    assert load(folder).digest != before
    edit(folder, "regions", swap('name = "Laboratory"', 'name = "Lab-1"'))
    assert load(folder).digest == before


def test_a_link_that_leads_to_itself_holds_no_files(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert "sources.toml: the file cannot be read" in "\n".join(map(str, refusal_of(tmp_path / "loop").faults))
