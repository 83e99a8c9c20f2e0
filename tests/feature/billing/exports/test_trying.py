"""A test of an S3 connection names the first thing that is wrong; against a real S3 server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ipucloud.billing.exports.order import Target
from ipucloud.billing.exports.s3 import DeliveryError
from ipucloud.billing.exports.trying import try_out
from ipucloud.contract.s3_connections import S3Failure
from ipucloud.egress.guard import Guard
from tests.support.certificates import certify
from tests.support.s3 import S3Server, s3_server


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3"), "data") as server:
        yield server


def target(server: S3Server, **changes: object) -> Target:
    usual = {
        "endpoint": server.endpoint,
        "region": "us-east-1",
        "bucket": "data",
        "prefix": "runs",
        "access_key_id": server.access_key_id,
        "secret": server.secret,
        "private_too": True,
        "ports": frozenset({443}),
    }
    return Target.model_validate(usual | changes)


def test_a_connection_that_works_leaves_nothing_in_the_bucket(s3: S3Server) -> None:
    try_out(target(s3))
    assert s3.files("data") == {}


@pytest.mark.parametrize(
    ("changes", "failed"),
    [
        ({"endpoint": "http://no-such-host.invalid"}, S3Failure.NAME),
        ({"endpoint": "http://127.0.0.1:9"}, S3Failure.CONNECTION),
        ({"endpoint": "https://127.0.0.1", "private_too": False}, S3Failure.ADDRESS),
        ({"access_key_id": "AKIANOBODY"}, S3Failure.CREDENTIALS),
        ({"secret": "wrong"}, S3Failure.CREDENTIALS),
        ({"bucket": "nowhere"}, S3Failure.BUCKET),
    ],
)
def test_what_is_wrong_is_named(s3: S3Server, changes: dict[str, object], failed: S3Failure) -> None:
    with pytest.raises(DeliveryError) as refused:
        try_out(target(s3, **changes))
    assert refused.value.failed is failed
    assert s3.secret not in str(refused.value)


async def two_addresses(host: str, port: int) -> Sequence[str]:
    """Nothing listens at the second one."""
    return ["127.0.0.1", "127.0.0.9"]


def test_a_server_without_tls_or_with_an_unknown_certificate_fails_at_tls(s3: S3Server, tmp_path: Path) -> None:
    with pytest.raises(DeliveryError) as refused:
        try_out(target(s3, endpoint=s3.endpoint.replace("http:", "https:")))
    assert refused.value.failed is S3Failure.TLS
    with (
        s3_server(tmp_path / "buckets", "data", certified=certify("localhost", tmp_path)) as certified,
        pytest.raises(DeliveryError) as refused,
    ):
        try_out(target(certified), Guard(resolve=two_addresses))
    assert refused.value.failed is S3Failure.TLS
