"""Why a request was refused."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from ipucloud.contract.fields import Answer


class FieldErrorOut(Answer):
    """One error in a request."""

    pointer: str = Field(description="JSON pointer into the body, or `?name` of a query parameter.")
    code: str
    detail: str


class ProblemOut(Answer):
    """Why a request was refused (RFC 9457). Some codes add members of their own, such as `why_not`."""

    model_config = ConfigDict(title="Problem", extra="allow")

    type: str = Field(description="Path of the page that explains the code, on this service.")
    title: str
    status: int
    detail: str = Field(description="What happened and what to do about it, for people.")
    instance: str = Field(description="Path of the request.")
    code: str = Field(description="Stable code of the error; branch on it.")
    request_id: str
    retryable: bool = Field(description="Whether the same request may succeed later.")
    errors: list[FieldErrorOut] = Field(default_factory=list)
