"""Field types shared by several resources, and the base classes of request and response bodies."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from ipucloud.kernel.money import MINOR_UNITS, Money, known_currency, rounded

NAME_PATTERN = r"^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$"
"""Starts with a letter, so that a name is never parsed as a number."""
MAX_TAGS = 50
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_LOST_PLUS = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)? \d\d:\d\d", re.ASCII)
"""A plus sign in a query is a space."""
Given = TypeVar("Given")
Amounts = TypeVar("Amounts", Decimal, Money)


def _written_out(value: object) -> object:
    if isinstance(value, str) and not _RFC3339.fullmatch(value):
        if _LOST_PLUS.fullmatch(value):
            raise ValueError("in a query, + before the offset of a time is written %2B, as in ...T23:59:30%2B02:00")
        raise ValueError("write the time like 2026-01-31T23:59:30Z")
    if not isinstance(value, str | datetime | None):
        raise ValueError("a time must be a string")
    return value


def _utc(instant: datetime) -> datetime:
    try:
        return instant.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("the time must be within the years 1 to 9999") from error


def not_null(value: Given | None) -> Given:
    if value is None:
        raise ValueError("omit the field instead of sending null")
    return value


def no_id(name: str) -> str:
    """Objects are named by their name or id in paths, so that no name may have the form of an id."""
    try:
        UUID(name)
    except ValueError:
        return name
    raise PydanticCustomError("looks_like_an_id", "A name must not have the form of an id; choose another")


def to_pay(below: int) -> AfterValidator:
    """Validates an `Amount` or `Money` of a request: above 0, below `below`, payable in its currency.

    Of an `Amount` the currency is not known here: it may have as many decimal places as any currency has.
    """

    def check(value: Amounts) -> Amounts:
        if isinstance(value, Money):
            amount, places = value.amount, MINOR_UNITS[known_currency(value.currency)]
        else:
            amount, places = value, max(MINOR_UNITS.values())
        if not 0 < amount < below or amount != rounded(amount, places):
            raise PydanticCustomError(
                "not_payable",
                "An amount must be above 0, below {below}, and have at most {places} decimal places",
                {"below": f"{below:,}", "places": places},
            )
        return value

    return AfterValidator(check)


def _plain_map(schema: dict[str, Any]) -> None:
    """Code generators do not know `patternProperties`."""
    [(key, value)] = schema.pop("patternProperties").items()
    schema |= {"propertyNames": {"pattern": key}, "additionalProperties": value}


ClusterName = Annotated[str, Field(pattern=NAME_PATTERN, examples=["bert"]), AfterValidator(no_id)]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,126}[a-z0-9])?$")]
KeyRef = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$")]
KeyName = Annotated[KeyRef, AfterValidator(no_id)]
TagKey = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._:/-]{0,61}[A-Za-z0-9])?$")]
TagValue = Annotated[str, Field(max_length=255, pattern=r"^[^\x00-\x1f\x7f]*$")]
Tags = Annotated[
    dict[TagKey, TagValue],
    Field(max_length=MAX_TAGS, examples=[{"team": "nlp"}], json_schema_extra=_plain_map),
]
Instant = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_written_out), AfterValidator(_utc)]
Line = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Lines = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"^[^\x00-\x09\x0b-\x1f\x7f]+$")]
Month = Annotated[str, Field(pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])$", examples=["2026-05"])]
CountryCode = Annotated[
    str, Field(pattern=r"^[A-Z]{2}$", description="ISO 3166-1 code of the country.", examples=["LU"])
]


def figure(source: Literal["observed", "recorded", "computed"], at: str | None, description: str, **more: Any) -> Any:
    """A field with a number for operators: where it comes from, and which field has the time as of which it holds.

    `observed`: read at the site; `recorded`: written by requests and workers; `computed` from what is. `at` is a field
    of this answer or of the one around it; None: as of the request.
    """
    time = "the request" if at is None else f"`{at}`"
    described = f"{description.removesuffix('.')} ({source}; as of {time})."
    return Field(description=described, json_schema_extra={"x-source": source, "x-time": at}, **more)


def secret(part: Literal["all", "values", "query", "password"] = "all") -> dict[str, Any]:
    """`json_schema_extra` of a field of requests whose value nobody is shown again; it is stored encrypted or hashed.

    `part`: what of it is secret; the values of a mapping, the query of a URL, or the password of a login.
    `tests/api/test_secrets.py` looks for what was sent in each such field.
    """
    return {"x-secret": part}


class Shape(BaseModel):
    """Its validators are built when they are first used: a process that starts has been sent no body, and most answers
    are written by PostgreSQL."""

    model_config = ConfigDict(defer_build=True)


class Body(Shape):
    """A request body: unknown fields are refused, and types are not converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Answer(Shape):
    """A JSON object of the API, also built from objects with the same attributes."""

    model_config = ConfigDict(frozen=True, from_attributes=True)
