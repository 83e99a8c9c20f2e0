"""Why a request was refused."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from ipucloud.contract.fields import Answer


class FieldErrorOut(Answer):
    """One error in a request."""

    pointer: str = Field(description="JSON pointer into the body, or `?name` of a query parameter")
    code: str
    detail: str


class ProblemOut(Answer):
    """Why a request was refused (RFC 9457). Some codes add members of their own, such as `why_not`."""

    model_config = ConfigDict(title="Problem", extra="allow")

    type: str = Field(description="documentation of this code")
    title: str
    status: int
    detail: str = Field(description="how to resolve it")
    instance: str = Field(description="path of the request")
    code: str = Field(description="stable; programs should branch on this")
    request_id: str
    retryable: bool = Field(description="the same request may succeed later")
    errors: list[FieldErrorOut] = Field(default_factory=list)
