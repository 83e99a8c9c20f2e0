"""The S3 client: a store for a bucket, and what a service's response means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from obstore.exceptions import BaseError
from obstore.store import S3Store

from ipucloud.billing.exports.order import Target
from ipucloud.contract.s3_connections import S3Failure
from ipucloud.egress.guard import Guard
from ipucloud.egress.proxy import EgressProxy
from ipucloud.egress.urls import UrlRefused, endpoint_of

if TYPE_CHECKING:
    from obstore.store import ClientConfig  # there is none to import when it runs

PUBLIC = Guard()
CALL_SECONDS = 60
_CODE = re.compile(r"<Code>([A-Za-z]{3,60})</Code>")
_STATUS = re.compile(r"\bstatus(?: code)?: ([45][0-9]{2})\b")
_SENTENCES = (
    ("InvalidAccessKeyId", S3Failure.CREDENTIALS, "The bucket's service does not know the access key."),
    ("SignatureDoesNotMatch", S3Failure.CREDENTIALS, "The bucket's service does not accept the secret."),
    ("AccessDenied", S3Failure.PERMISSION, "The access key may not write to the bucket."),
    ("NoSuchBucket", S3Failure.BUCKET, "There is no such bucket."),
    ("AuthorizationHeaderMalformed", S3Failure.REGION, "The bucket is in another region."),
    ("PermanentRedirect", S3Failure.REGION, "The bucket is in another region."),
)


class DeliveryError(Exception):
    """Why a bucket could not be used; contains nothing of the service's response."""

    def __init__(self, sentence: str, failed: S3Failure = S3Failure.SERVICE) -> None:
        super().__init__(sentence)
        self.failed = failed


@contextmanager
def reached(target: Target, guard: Guard = PUBLIC) -> Iterator[S3Store]:
    """A store for the bucket. Raises DeliveryError, also for errors of the store inside."""
    try:
        endpoint = endpoint_of(target.endpoint, private=target.private_too, ports=target.ports)
    except UrlRefused as error:
        raise DeliveryError(str(error), S3Failure.ADDRESS) from error
    with nullcontext() if target.private_too else EgressProxy(endpoint.host, endpoint.port, guard) as proxy:
        try:
            yield _store(target, proxy)
        except (BaseError, OSError) as error:
            if proxy and proxy.refusal:
                raise DeliveryError(proxy.refusal, S3Failure.ADDRESS) from error
            raise DeliveryError(sentence(str(error)), failure(str(error))) from error


def _store(target: Target, proxy: EgressProxy | None) -> S3Store:
    options: ClientConfig = {
        "timeout": f"{CALL_SECONDS}s",
        "connect_timeout": "10s",
        "allow_http": target.private_too,
    }
    if proxy is not None:
        options["proxy_url"] = proxy.url
    return S3Store(
        target.bucket,
        endpoint=target.endpoint,
        region=target.region,
        access_key_id=target.access_key_id,
        secret_access_key=target.secret,
        virtual_hosted_style_request=False,
        client_options=options,
        retry_config={"max_retries": 2},
    )


def key_of(target: Target, name: str) -> str:
    prefix = target.prefix.strip("/")
    return f"{prefix}/{name}" if prefix else name


def sentence(error: str) -> str:
    """The message for customers about a service's response: a fixed sentence and the status."""
    known = _known(error)
    if known is not None:
        return known[1]
    status = _STATUS.search(error)
    if status:
        return f"The bucket's service refused with status {status[1]}."
    return "The bucket's service did not answer."


def failure(error: str) -> S3Failure:
    """What a service's response says that failed."""
    known = _known(error)
    return S3Failure.SERVICE if known is None else known[0]


def _known(error: str) -> tuple[S3Failure, str] | None:
    code = _CODE.search(error)
    for known, failed, meaning in _SENTENCES:
        if (code and code[1] == known) or known in error:
            return failed, meaning
    return None
