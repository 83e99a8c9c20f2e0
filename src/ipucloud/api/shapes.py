"""What the descriptions of routes share: path and header parameters, pages, the problem document."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

from fastapi import Path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from ipucloud.kernel.money import CENTS, Money, rounded

Item = TypeVar("Item")
Amounts = TypeVar("Amounts", Decimal, Money)

ProjectRef = Annotated[str, Path(description="the project's id, number or slug", examples=["research"])]
ClusterId = Annotated[UUID, Path(description="the cluster's id")]
OperationId = Annotated[UUID, Path(description="the operation's id")]


def in_cents(below: int) -> AfterValidator:
    """Of an `Amount` or `Money` that is asked for: above 0, below so much, and in whole cents."""

    def check(value: Amounts) -> Amounts:
        amount = value.amount if isinstance(value, Money) else value
        if not 0 < amount < below or amount != rounded(amount, CENTS):
            raise PydanticCustomError(
                "not_cents", "An amount is above 0, below {below}, and in whole cents", {"below": f"{below:,}"}
            )
        return value

    return AfterValidator(check)


class Page(BaseModel, Generic[Item]):
    """A page of a list. `next_cursor` is null on the last one."""

    items: list[Item]
    next_cursor: str | None = Field(description="send it as `cursor` to get the next page")


class FieldErrorOut(BaseModel):
    """One fault of a request."""

    pointer: str = Field(description="JSON pointer into the body, or `?name` of a query parameter")
    code: str
    detail: str


class ProblemOut(BaseModel):
    """Why a request was refused, as RFC 9457 has it. Some codes add members of their own, such as `why_not`."""

    model_config = ConfigDict(title="Problem", extra="allow")

    type: str = Field(description="a page about this code")
    title: str
    status: int
    detail: str = Field(description="what to do, in a sentence")
    instance: str = Field(description="path of the request")
    code: str = Field(description="stable for ever; decide by this")
    request_id: str
    retryable: bool = Field(description="the same request may succeed later")
    errors: list[FieldErrorOut] = Field(default_factory=list)


def _header(name: str, description: str, **schema: Any) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string", **schema},
    }


IF_MATCH = _header("If-Match", "Change the object only if its ETag still has this version; else 412.")
IF_NONE_MATCH = _header("If-None-Match", "Answer 304 if the object still has this ETag.")
REQUIRED_IF_MATCH = IF_MATCH | {"required": True, "description": "The ETag the document had when it was read."}
IDEMPOTENCY_KEY = _header(
    "Idempotency-Key",
    "Makes a repeated request safe: the same key and request have one effect and get one answer. A UUID does well.",
    minLength=1,
    maxLength=255,
    pattern="^[!-~]+$",
)
