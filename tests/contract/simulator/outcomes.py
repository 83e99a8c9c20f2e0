"""What came of a call: what a command printed, or how it was refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
import httpx
import pytest

from tests.support.openssh import OpenSsh
from tests.support.vipu import code_of, sentence_of


def output(login: OpenSsh, command: str, stdin: bytes = b"") -> str:
    """What a command prints; it must succeed."""
    done = login.ssh(command, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def assert_refused(answer: httpx.Response, status: int, words: str) -> None:
    """The site's API refused a request, and says why."""
    assert answer.status_code == status, answer.text
    assert words in answer.json()["detail"]


def refusal(call: Callable[..., object], *arguments: Any, **fields: Any) -> tuple[grpc.StatusCode, str]:
    """Status and sentence with which a controller refuses a call."""
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments, **fields)
    return code_of(caught.value), sentence_of(caught.value)
