"""What the schemas of events' `data` have in common. Members may be added; none changes its meaning."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from ipucloud.contract.fields import Shape

Late = Annotated[bool, Field(description="An audit appended the event afterwards.")]


class Payload(Shape):
    """The `data` of an event."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AmountOfMoney(Payload):
    """An exact amount of a currency."""

    amount: str = Field(description="Exact decimal.", examples=["400.00"])
    currency: str = Field(description="ISO 4217 code of the currency.", examples=["EUR"])
