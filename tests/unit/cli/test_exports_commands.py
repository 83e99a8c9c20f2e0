"""What a customer sees of `ipucloud exports`, against a real HTTP server."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted import Reply, Service

Run = Callable[..., Any]

CONTENT = b"BilledCost\n1.0\n"
EXPORT = {
    "id": "export-1",
    "operation": "operation-1",
    "state": "succeeded",
    "progress": 100,
    "dataset": "cost-and-usage",
    "version": "1.4",
    "format": "csv",
    "month": "2026-05",
    "since": "2026-05-01",
    "until": "2026-06-01",
    "created_at": "2026-06-01T00:00:00Z",
    "manifest": {
        "final": True,
        "rows": 1,
        "files": [{"name": "file.csv", "bytes": len(CONTENT), "sha256": hashlib.sha256(CONTENT).hexdigest()}],
    },
}


def test_a_file_is_saved_when_it_is_the_one_that_was_made(run: Run, service: Service, tmp_path: Path) -> None:
    service.lists("/v1/projects/demo/billing/exports", [EXPORT])
    service.gives("/v1/projects/demo/billing/exports/export-1", EXPORT)
    service.on("GET", "/v1/projects/demo/billing/exports/export-1/file", Reply(raw=CONTENT))
    file = tmp_path / "may.csv"
    ended = run("exports", "download", "export-1", str(file))
    assert ended.status == 0, ended.err
    assert file.read_bytes() == CONTENT
    service.on("GET", "/v1/projects/demo/billing/exports/export-1/file", Reply(raw=CONTENT[:-3]))
    assert run("exports", "download", "export-1", str(tmp_path / "torn.csv")).status != 0
    assert [path.name for path in tmp_path.iterdir()] == ["may.csv"]


def test_days_are_asked_for_as_days(run: Run, service: Service) -> None:
    days = EXPORT | {"month": None, "since": "2026-05-04", "until": "2026-06-01"}
    service.gives("/v1/projects/demo/billing/exports", {"items": [days, EXPORT], "next_cursor": None})
    listed = run("exports", "list")
    assert "2026-05-04 to 2026-06-01" in listed.out
    refused = [("2026-05", "--since", "2026-05-04"), ("--since", "2026-05-04"), ("--until", "2026-05-04"), ()]
    for arguments in refused:
        ended = run("exports", "create", *arguments)
        assert (ended.status, "either a month" in ended.err) == (2, True), arguments
    assert [asked.method for asked in service.asked] == ["GET"]
    service.on("POST", "/v1/projects/demo/billing/exports", Reply(409, {"code": "state_conflict", "detail": "No."}))
    run("exports", "create", "--since", "2026-05-04", "--until", "2026-06-01")
    assert service.asked[-1].body == {"since": "2026-05-04", "until": "2026-06-01"}


def test_a_bucket_is_kept_and_its_secret_comes_from_the_environment(
    run: Run, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {"id": "c-1", "name": "lake", "endpoint": "https://s3", "region": "eu", "bucket": "costs", "prefix": ""}
    service.on("POST", "/v1/projects/demo/s3-connections", Reply(201, made))
    command = (
        "s3-connections",
        "create",
        "lake",
        "--endpoint",
        "https://s3",
        "--bucket",
        "costs",
        "--access-key-id",
        "A",
    )
    assert run(*command).status == 2
    monkeypatch.setenv("IPUCLOUD_S3_SECRET", "very-secret")
    ended = run(*command)
    assert ended.status == 0, ended.err
    assert service.asked[-1].body["secret"] == "very-secret"
    assert "very-secret" not in ended.out + ended.err
