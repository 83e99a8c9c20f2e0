"""How the site says no: a reason that every protocol can express, and a sentence that names the cause."""

from __future__ import annotations

from enum import Enum

import grpc


class Reason(Enum):
    """Why a call was refused, with its gRPC status code and its HTTP status."""

    INVALID = (grpc.StatusCode.INVALID_ARGUMENT, 422)
    NOT_FOUND = (grpc.StatusCode.NOT_FOUND, 404)
    EXISTS = (grpc.StatusCode.ALREADY_EXISTS, 409)
    EXHAUSTED = (grpc.StatusCode.RESOURCE_EXHAUSTED, 409)
    PRECONDITION = (grpc.StatusCode.FAILED_PRECONDITION, 409)
    UNAUTHENTICATED = (grpc.StatusCode.UNAUTHENTICATED, 401)

    @property
    def grpc_code(self) -> grpc.StatusCode:
        return self.value[0]

    @property
    def http_status(self) -> int:
        return self.value[1]


class Refusal(Exception):
    """A call that broke a rule of the site. Nothing was changed."""

    def __init__(self, reason: Reason, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.sentence = sentence


def invalid(sentence: str) -> Refusal:
    """The request can never succeed as it stands."""
    return Refusal(Reason.INVALID, sentence)


def not_found(sentence: str) -> Refusal:
    """The object that the request names does not exist."""
    return Refusal(Reason.NOT_FOUND, sentence)


def exists(sentence: str) -> Refusal:
    """The name is taken."""
    return Refusal(Reason.EXISTS, sentence)


def exhausted(sentence: str) -> Refusal:
    """The request is sound, but nothing free can serve it now."""
    return Refusal(Reason.EXHAUSTED, sentence)


def precondition(sentence: str) -> Refusal:
    """The object is in a state that does not allow the request."""
    return Refusal(Reason.PRECONDITION, sentence)


def unauthenticated(sentence: str) -> Refusal:
    """The caller did not prove who they are."""
    return Refusal(Reason.UNAUTHENTICATED, sentence)
