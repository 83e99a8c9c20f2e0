"""What a customer sees of `ipucloud exports`, against a real HTTP server."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.support.scripted import Reply, Service
from tests.unit.cli.conftest import Run

CONTENT = b"BilledCost\n1.0\n"
EXPORT = {
    "id": "export-1",
    "operation": "operation-1",
    "state": "succeeded",
    "progress": 100,
    "dataset": "cost-and-usage",
    "format": "csv",
    "month": "2026-05",
    "since": "2026-05-01",
    "until": "2026-06-01",
    "manifest": {
        "final": True,
        "rows": 1,
        "files": [{"name": "file.csv", "bytes": len(CONTENT), "sha256": hashlib.sha256(CONTENT).hexdigest()}],
    },
}

LAKE = {"id": "c-1", "name": "lake"}


def test_a_file_is_saved_when_it_is_the_one_that_was_made(run: Run, service: Service, tmp_path: Path) -> None:
    service.lists("/v1/projects/demo/billing/exports", [EXPORT])
    service.gives("/v1/projects/demo/billing/exports/export-1", EXPORT)
    service.on("GET", "/v1/projects/demo/billing/exports/export-1/file", Reply(raw=CONTENT))
    file = tmp_path / "may.csv"
    ended = run("exports", "download", "export-1", str(file))
    assert ended.status == 0, ended.err
    assert file.read_bytes() == CONTENT
    assert service.requests[-1].query == {}
    marked = b"\xef\xbb\xbf" + CONTENT
    service.on("GET", "/v1/projects/demo/billing/exports/export-1/file", Reply(raw=marked))
    assert run("exports", "download", "export-1", str(file), "--bom").status == 0
    assert (file.read_bytes(), service.requests[-1].query) == (marked, {"bom": "true"})
    service.on("GET", "/v1/projects/demo/billing/exports/export-1/file", Reply(raw=CONTENT[:-3]))
    assert run("exports", "download", "export-1", str(tmp_path / "torn.csv")).status != 0
    assert [path.name for path in tmp_path.iterdir()] == ["may.csv"]


def test_days_are_asked_for_as_days(run: Run, service: Service) -> None:
    days = EXPORT | {"month": None, "since": "2026-05-04", "until": "2026-06-01"}
    service.lists("/v1/projects/demo/billing/exports", [days, EXPORT])
    run("exports", "list").shows("2026-05-04 to 2026-06-01")
    refused = [("2026-05", "--since", "2026-05-04"), ("--since", "2026-05-04"), ("--until", "2026-05-04"), ()]
    for arguments in refused:
        run("exports", "create", *arguments).fails(2, "either a month")
    assert [request.method for request in service.requests] == ["GET"]
    service.on("POST", "/v1/projects/demo/billing/exports", Reply(409, {"code": "state_conflict", "detail": "No."}))
    run("exports", "create", "--since", "2026-05-04", "--until", "2026-06-01")
    assert service.requests[-1].body == {"since": "2026-05-04", "until": "2026-06-01"}


def test_a_bucket_is_kept_and_its_secret_comes_from_the_environment(
    run: Run, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.on("POST", "/v1/projects/demo/s3-connections", Reply(201, LAKE))
    bucket = ("--endpoint", "https://s3", "--bucket", "costs")
    command = ("s3-connections", "create", "lake", *bucket, "--access-key-id", "A")
    assert run(*command).status == 2
    monkeypatch.setenv("IPUCLOUD_S3_SECRET", "very-secret")
    ended = run(*command)
    assert ended.status == 0, ended.err
    assert service.requests[-1].body["secret"] == "very-secret"
    assert "very-secret" not in ended.out + ended.err


def test_the_bill_of_an_account_is_exported_and_delivered(run: Run, service: Service, tmp_path: Path) -> None:
    base, of = "/v1/billing/accounts/research", ("--account", "research")
    service.on("POST", f"{base}/exports", Reply(202, EXPORT | {"state": "queued", "manifest": None}))
    service.gives(f"{base}/exports/export-1", EXPORT)
    service.on("GET", f"{base}/exports/export-1/file", Reply(raw=CONTENT))
    file = tmp_path / "may.csv"
    ended = run("exports", "create", "2026-05", "--output", str(file), *of)
    assert (ended.status, file.read_bytes()) == (0, CONTENT), ended.err
    assert [request.body for request in service.requests if request.method == "POST"] == [{"month": "2026-05"}]
    assert run("exports", "create", "2026-05", "--scope", "account", *of).status == 2
    failed = EXPORT | {"state": "failed", "last_error": "The file could not be built; it is retried."}
    service.gives(f"{base}/exports/export-1", failed)
    ended = run("exports", "create", "2026-05", *of)
    assert (ended.status != 0, "could not be built" in ended.err) == (True, True)
    assert run("exports", "create", "2026-05", "--no-wait", *of).status == 0
    assert run("exports", "create", "2026-05", "--no-wait", "--output", str(file), *of).status == 2
    service.lists(f"{base}/exports", [EXPORT])
    assert "2026-05" in run("exports", "list", *of).out
    assert run("exports", "wait", "export-1", *of).status == 5
    for method in ("GET", "PUT"):
        service.on(method, f"{base}/export-limit", Reply(body={"per_day": 10, "used": 1, "next_at": None}))
    assert "10" in run("exports", "limit", *of).out
    assert run("exports", "set-limit", "10", *of).status == 0
    service.lists(f"{base}/s3-connections", [LAKE])
    schedule = {"id": "s-1", "name": "lake.month.cost-and-usage", "connection": "c-1", "every": "month"}
    service.on("POST", f"{base}/export-schedules", Reply(201, schedule))
    service.lists(f"{base}/export-schedules", [schedule])
    service.on("DELETE", f"{base}/export-schedules/s-1", Reply(204))
    assert run("exports", "schedules", "create", "lake", "--every", "month", *of).status == 0
    assert service.requests[-1].body == {"connection": "c-1", "every": "month"}
    assert "lake.month" in run("exports", "schedules", "list", *of).out
    assert run("exports", "schedules", "delete", schedule["name"], *of, "--json").json == {"deleted": "s-1"}


def test_buckets_of_an_account(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    base, of = "/v1/billing/accounts/research/s3-connections", ("--account", "research")
    monkeypatch.setenv("IPUCLOUD_S3_SECRET", "very-secret")
    service.lists(base, [LAKE])
    service.gives(f"{base}/c-1", LAKE)
    service.on("POST", base, Reply(201, LAKE))
    service.on("PATCH", f"{base}/c-1", Reply(body=LAKE))
    service.on("POST", f"{base}/c-1:test", Reply(body=LAKE))
    service.on("DELETE", f"{base}/c-1", Reply(204))
    create = ("s3-connections", "create", "lake", "--endpoint", "https://s3", "--bucket", "costs")
    ended = run(*create, "--access-key-id", "A", *of)
    assert ended.status == 0, ended.err
    assert "attachable" not in service.requests[-1].body
    assert run(*create, "--access-key-id", "A", "--attachable", *of).status == 2
    for command in (("list",), ("show", "lake"), ("test", "lake"), ("update", "lake", "--bucket", "books")):
        assert run("s3-connections", *command, *of).status == 0, command
    assert run("s3-connections", "delete", "lake", *of, "--json").json == {"deleted": "c-1"}
