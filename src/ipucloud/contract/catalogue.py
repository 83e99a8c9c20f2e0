"""The catalogue's rows, as the API shows them. Field names of quantities end with the unit."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Self

from pydantic import AwareDatetime, BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator

from ipucloud.contract.estimates import BillingRule, WhyNotOut
from ipucloud.contract.fields import Answer, Shape
from ipucloud.contract.lists import Page
from ipucloud.kernel.money import Amount, Currency, Money, MoneyError, unit_price

Slug = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,62}[a-z0-9])?$")]


class Model(Shape):
    """Base of every row: frozen, without unknown fields, identified by its `KEY` within its file."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    KEY: ClassVar[tuple[str, ...]] = ("id",)


class Source(Model):
    """Where a fact comes from."""

    id: Slug = Field(examples=["datasheet"])
    title: str
    url: str | None = Field(
        None, description="Where the source is published; null for facts defined by this installation."
    )


def _resolve_source(value: object, info: ValidationInfo) -> object:
    sources = (info.context or {}).get("sources")
    if sources is None or not isinstance(value, str):
        return value
    if value not in sources:
        raise ValueError("there is no such source in sources.toml")
    return sources[value]


class Row(Model):
    """A fact of the catalogue."""

    source: Annotated[Source, BeforeValidator(_resolve_source)] = Field(description="Source of the figures.")


class IpuGeneration(Row):
    """One kind of Intelligence Processing Unit. Figures are the vendor's; null if not published."""

    id: Slug = Field(examples=["gc200"])
    name: str = Field(examples=["Colossus Mk2 GC200"])
    generation: int = Field(ge=1)
    architecture: str = Field(description="Architecture, as named in IPU attributes.", examples=["ipu2"])
    cores: int = Field(description="Independent processor cores (tiles).")
    threads: int
    clock_ghz: float | None = None
    fp16_tflops: float = Field(description="AI compute in TFLOPS, FP16.16; `notes` say where sources disagree.")
    fp32_tflops: float | None = None
    fp8_tflops: float | None = None
    in_processor_memory_mb: int
    memory_per_tile_kb: int | None = Field(None, description="In-processor memory of one tile in kB.")
    memory_bandwidth_tb_per_s: float | None = None
    ipu_links: int
    ipu_link_bandwidth: str = Field(
        description="Links and bandwidth, as the vendor states them.", examples=["10 x 32 GB/s"]
    )
    exchange_bandwidth: str | None = Field(None, description="On-chip exchange, as the vendor states it.")
    host_interface: str | None = Field(None, description="Towards the host, as the vendor states it.")
    notes: str | None = None


class AllocatedThrough(StrEnum):
    """How IPUs are handed to a customer: by a V-IPU controller, or as device ids of the host they are in."""

    V_IPU = "v-ipu"
    HOST_DEVICES = "host-devices"


class Comparison(Row):
    """A published result of machines of this type beside another vendor's."""

    text: str = Field(description="What was compared, with the figures of both, and whose they are.")


class MachineType(Row):
    """A type of machine: the unit of allocation and of billing."""

    id: Slug = Field(examples=["m2000"])
    name: str = Field(examples=["IPU-M2000"])
    sku: Slug | None = Field(None, description="SKU of a machine-minute; null while it is not sold.")
    ipu: Slug = Field(description="Id of the IPU generation.", examples=["gc200"])
    ipus: int = Field(ge=1, description="IPUs of a fully equipped machine.", examples=[4])
    cores: int = Field(examples=[5888])
    threads: int = Field(examples=[35328])
    ai_pflops: float = Field(description="AI compute in PFLOPS, FP16.16.", examples=[1.0])
    fp32_pflops: float | None = None
    fp8_pflops: float | None = None
    in_processor_memory_gb: float = Field(examples=[3.6])
    streaming_memory_gb: tuple[int, ...] = Field(
        (), description="Available sizes of DDR4 streaming memory per machine."
    )
    fabric: str = Field(description="Links within and between machines.")
    allocated_through: AllocatedThrough
    details: tuple[str, ...] = Field((), description="Form factor, power and management.")
    notes: str | None = Field(None, description="Where sources disagree.")
    comparisons: tuple[Comparison, ...] = Field(
        (), description="Published results beside other vendors' machines, each with a source of its own."
    )


class Pod(Row):
    """A size of cluster. One IPU-Link domain holds at most 16 machines; larger pods join whole domains by GW-Links."""

    id: Slug
    name: str
    ipus: int
    machines: int
    ipu_link_domains: int
    host_servers_min: int
    host_servers_max: int
    ai_pflops: dict[str, float] = Field(description="AI compute by machine type.")
    vendor_products: tuple[str, ...] = Field((), description="The vendor's products of this size; empty: vPOD only.")


class Region(Row):
    """A location of machines."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)
    KEY = ("slug",)

    slug: Slug = Field(examples=["luxembourg-2"])
    name: str = Field(examples=["Luxembourg 2"])
    number: int = Field(ge=1, description="Integer id of the region.", examples=[2])
    country: str = Field(pattern=r"^[A-Z]{2}$", description="ISO 3166-1 code of the country.", examples=["LU"])
    machine_types: tuple[Slug, ...] = Field(description="Machine types sold here.")
    billing: BillingRule = Field(BillingRule(), description="From when until when clusters are billed here.")


class FlavorRow(Row):
    """A flavor as its data file has it."""

    KEY = ("name",)

    name: Slug = Field(examples=["m2000-pod16"])
    machine_type: Slug
    pod: Slug | None = Field(
        None, description="Size of the pod; null for a server with its own IPUs.", examples=["pod16"]
    )
    sku: Slug | None = Field(None, description="SKU of a machine-minute, if it differs from the machine type's.")
    ipus: int | None = Field(None, ge=1, description="IPUs of a server that its customer can use; null for a pod.")
    poplar_servers: int = Field(ge=1, examples=[1])
    regions: tuple[Slug, ...] = Field(min_length=1)


class Flavor(FlavorRow):
    """A cluster size: a number of machines of one type, with Poplar servers to work on.

    A machine that is its own Poplar server belongs to one customer, even if only some of its IPUs are usable.
    """

    sku: Slug = Field(description="SKU of a machine-minute.")
    ipus: int
    machines: int = Field(description="Machines that are billed per minute.")
    allocated_through: AllocatedThrough
    ai_pflops: float = Field(description="AI compute in PFLOPS, FP16.16.")
    in_processor_memory_gb: float
    poplar_servers_min: int = Field(description="Fewest Poplar servers that the vendor's design has for this size.")
    poplar_servers_max: int = Field(description="Most Poplar servers that the vendor's design has for this size.")


class Image(Row):
    """An operating system with the Poplar SDK, for Poplar servers."""

    KEY = ("name",)

    name: Slug = Field(examples=["ubuntu-20.04-x64-poplar-1.18.0-3.0.0"])
    os: str = Field(examples=["ubuntu"])
    os_version: str = Field(examples=["20.04"])
    vipu_version: str = Field(examples=["1.18.0"])
    sdk_version: str = Field(description="Version of the Poplar SDK.", examples=["3.0.0"])
    regions: tuple[Slug, ...]

    @model_validator(mode="after")
    def _name_matches_versions(self) -> Self:
        expected = f"{self.os}-{self.os_version}-x64-poplar-{self.vipu_version}-{self.sdk_version}"
        if self.name != expected:
            raise ValueError(f"an image with these versions is named {expected}")
        return self


class ToolKind(StrEnum):
    """What a tool is."""

    FRAMEWORK = "framework"
    DATA_PLATFORM = "data-platform"
    LANGUAGE = "language"
    DATA_RESOURCE = "data-resource"
    VISUALISATION = "visualisation"
    SDK = "sdk"


class Tool(Row):
    """Software that a Poplar server is expected to run."""

    id: Slug = Field(examples=["pytorch"])
    name: str = Field(examples=["PyTorch"])
    kinds: tuple[ToolKind, ...] = Field(min_length=1)


class Article(Row):
    """A SKU other than machines. `unit` is what the price per minute applies to."""

    id: Slug
    name: str
    unit: str = Field(pattern=r"^[A-Za-z]+-minute$", examples=["GiB-minute"])


class ListPrice(Row):
    """An initial list price, in force in [valid_from, valid_to)."""

    KEY = ("sku", "region", "currency", "valid_from")

    sku: Slug
    region: Slug
    currency: Currency
    unit_price: Amount = Field(description="Price per minute of the SKU's unit, as an exact decimal.")
    valid_from: AwareDatetime
    valid_to: AwareDatetime | None = None
    synthetic: bool = Field(description="Whether the price is an example and not an offer.")

    @model_validator(mode="after")
    def _is_a_price(self) -> Self:
        try:
            unit_price(self.unit_price)
        except MoneyError as refused:
            raise ValueError(str(refused)) from refused
        return self


class FlavorOut(Flavor):
    """A flavor with its current price."""

    billing: BillingRule = Field(description="From when until when it is billed in the region of the price.")
    price_per_minute: Money | None
    price_per_hour: Money | None = Field(
        description="Price of 60 minutes, for display: clusters are billed by the minute."
    )


class FlavorPage(Page[FlavorOut]):
    pass


class IpuPage(Page[IpuGeneration]):
    pass


class MachineTypePage(Page[MachineType]):
    pass


class RegionPage(Page[Region]):
    pass


class ImagePage(Page[Image]):
    pass


class ToolPage(Page[Tool]):
    pass


class CapacityOut(Answer):
    """How many clusters of a flavor could be created now if only this flavor were requested; if none, why not."""

    flavor: str = Field(examples=["m2000-pod16"])
    machine_type: str
    machines: int
    ipus: int
    available: int
    why_not: WhyNotOut | None


class CapacityPage(Page[CapacityOut]):
    pass


class InRegion(Shape):
    region: str | None = Field(None, description="Only what is offered in this region, by slug or number.")


class Tools(Shape):
    kind: ToolKind | None = Field(None, description="Only tools of this kind.")
