"""Delivery to a real S3 server: whole files under names of their bytes, on a schedule, and the reason when it fails."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from ipucloud.billing.exports.connections import Bucket, Rules, connect
from ipucloud.billing.exports.process import Target
from ipucloud.billing.exports.requests import RequestedExport
from ipucloud.billing.exports.s3 import DeliveryError, refused, try_out
from ipucloud.billing.exports.schedules import add_schedule, schedule_documents, serve_schedules
from ipucloud.billing.exports.selection import month_of
from ipucloud.contract.exports import Dataset, ExportScheduleCreate, ExportScheduleList, FileFormat, FocusVersion
from ipucloud.contract.s3_connections import S3Failure
from ipucloud.egress.guard import Guard
from ipucloud.identity.members import Home
from ipucloud.kernel.errors import Problem
from tests.feature.billing.exports.ledgers import APRIL, csv_of, furnish, selection
from tests.feature.billing.exports.workers import KEYS, ExportClient, worker
from tests.feature.billing.world import BillingWorld, at
from tests.support.certificates import certify
from tests.support.postgres import Database as Scratch
from tests.support.s3 import S3Server, s3_server
from tests.support.waiting import until
from tests.support.world import at_work
from tests.support.world.clock import start_clock, stop_clock

PORTS = frozenset({443, 9443})
CSV = RequestedExport(Dataset.COST_AND_USAGE, FocusVersion.V1_4, FileFormat.CSV, month_of(APRIL))


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3"), "costs") as server:
        yield server


def bucket(server: S3Server, **changes: Any) -> Bucket:
    usual = Bucket("lake", server.endpoint, "us-east-1", "costs", "ipu/", server.access_key_id, server.secret)
    return replace(usual, **changes)


async def connected(billing: BillingWorld, where: Bucket) -> UUID:
    async with billing.database.begin() as connection:
        home, rules = Home(billing.project.id, None), Rules(KEYS, private_too=True, ports=PORTS)
        document = await connect(connection, home, where, rules)
    assert where.secret not in document.decode()
    return UUID(json.loads(document)["id"])


async def complaint(client: ExportClient, export: UUID) -> str:
    """Run a worker until it has failed to deliver, and read why."""

    async def failed() -> bool:
        return bool((await client.state(export)).deliveries)

    async with at_work(worker(client.database)):
        await until(failed, "a delivery fails")
    state = await client.state(export)
    assert state.state == "running"
    error: str = state.last_error
    return error


@pytest.mark.anyio
async def test_a_file_is_delivered_once_and_a_schedule_goes_on(
    billing: BillingWorld, database: Scratch, s3: S3Server
) -> None:
    await furnish(billing)
    client = ExportClient(billing.database, billing.project.id)
    lake = await connected(billing, bucket(s3))
    async with billing.database.begin() as connection:
        plan = ExportScheduleCreate(connection=lake, dataset=CSV.dataset, version=CSV.version, format=CSV.format)
        await add_schedule(connection, Home(billing.project.id, None), plan)
    await serve_schedules(billing.database)
    assert await billing.rows("SELECT FROM exports") == []
    stop_clock(database.owner_url, at("2026-05-04T01:00:01"))
    await asyncio.gather(serve_schedules(billing.database), serve_schedules(billing.database))
    [(scheduled,)] = await billing.rows("SELECT id FROM exports WHERE month = '2026-05-01'")
    await client.work_until_done(scheduled)
    start_clock(database.owner_url)
    [secret] = await billing.rows("SELECT secret FROM s3_connections")
    assert s3.secret not in secret[0]
    once = await client.ask(replace(CSV, connection_id=lake))
    twice = await client.ask(replace(CSV, connection_id=lake))
    await client.work_until_done(once, twice)
    assert {(await client.state(each)).state for each in (once, twice, scheduled)} == {"succeeded"}
    files = s3.files("costs")
    assert len(files) == 4, "two months, each with a manifest; the same file twice is one"
    content = csv_of(database.app_url, selection(project=client.project_id, month=APRIL))
    digest = hashlib.sha256(content).hexdigest()
    assert files[f"ipu/focus-1.4-cost-and-usage-2026-04-{digest}.csv"] == content
    manifest = json.loads(files[f"ipu/focus-1.4-cost-and-usage-2026-04-{digest}.manifest.json"])
    assert manifest["files"] == [
        {
            "name": f"focus-1.4-cost-and-usage-2026-04-{digest}.csv",
            "format": "csv",
            "bytes": len(content),
            "sha256": digest,
        }
    ]
    async with billing.database.read() as reading:
        home, every = Home(billing.project.id, None), ExportScheduleList()
        [schedule] = map(json.loads, await schedule_documents(reading, home, every))
    assert (schedule["last_export"], schedule["last_error"]) == (str(scheduled), None)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"secret": "wrong"}, "The bucket's service does not accept the secret."),
        ({"bucket": "nowhere"}, "There is no such bucket."),
    ],
)
async def test_a_failed_delivery_has_a_sentence_of_ours(
    billing: BillingWorld, s3: S3Server, changes: dict[str, str], sentence: str
) -> None:
    client = ExportClient(billing.database, billing.project.id)
    export = await client.ask(replace(CSV, connection_id=await connected(billing, bucket(s3, **changes))))
    assert await complaint(client, export) == sentence


@pytest.mark.anyio
async def test_a_delivery_that_never_works_fails_after_a_day_and_the_file_is_kept(
    billing: BillingWorld, s3: S3Server
) -> None:
    client = ExportClient(billing.database, billing.project.id)
    gone = await connected(billing, bucket(s3, endpoint="http://127.0.0.1:9"))
    export = await client.ask(replace(CSV, connection_id=gone))
    assert await complaint(client, export) == "The bucket's service did not answer."
    await billing.execute("UPDATE operations SET deadline_at = app_now()")
    await billing.execute("UPDATE work SET run_at = app_now() WHERE kind = 'export'")
    await client.work_until_done(export)
    state = await client.state(export)
    assert (state.state, state.error["code"]) == ("failed", "deadline_exceeded")
    assert "did not answer" in state.error["detail"]
    assert state.manifest is not None


@pytest.mark.anyio
@pytest.mark.parametrize(
    "endpoint",
    ["http://s3.example", "https://user@s3.example", "https://s3.example/path", "ftp://s3.example", "https://", "s3",
     "https://s3.example:22", "https://s3.example:0", "https://s3.example:8443", "https://[2001:db8::1]:9000"],
)  # fmt: skip
async def test_an_endpoint_has_one_form(billing: BillingWorld, s3: S3Server, endpoint: str) -> None:
    where = bucket(s3, endpoint=endpoint)
    async with billing.database.begin() as connection:
        with pytest.raises(Problem, match="validation_failed"):
            await connect(
                connection, Home(billing.project.id, None), where, Rules(KEYS, private_too=False, ports=PORTS)
            )


def test_nothing_of_what_a_service_said_is_repeated() -> None:
    hostile = "<Code>AccessDenied</Code> token=abc <script> 403"
    assert str(refused(hostile)) == "The access key may not write to the bucket."
    refusal = "PUT http://10.0.0.1:450/b/k in 1.452s - Server returned non-2xx status code: 503 Service Unavailable"
    assert str(refused(refusal)) == "The bucket's service refused with status 503."
    assert str(refused("PUT http://10.0.0.1:450/b/k in 1.452s - HTTP error")) == "The bucket's service did not answer."
    assert str(refused("anything")) == "The bucket's service did not answer."


def target(server: S3Server, **changes: object) -> Target:
    usual = {
        "endpoint": server.endpoint,
        "region": "us-east-1",
        "bucket": "costs",
        "prefix": "runs",
        "access_key_id": server.access_key_id,
        "secret": server.secret,
        "private_too": True,
        "ports": frozenset({443}),
    }
    return Target.model_validate(usual | changes)


def test_a_connection_that_works_leaves_nothing_in_the_bucket(s3: S3Server) -> None:
    try_out(target(s3))
    assert not [name for name in s3.files("costs") if name.startswith("runs")]


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
        s3_server(tmp_path / "buckets", "costs", certified=certify("localhost", tmp_path)) as certified,
        pytest.raises(DeliveryError) as refused,
    ):
        try_out(target(certified), Guard(resolve=two_addresses))
    assert refused.value.failed is S3Failure.TLS
