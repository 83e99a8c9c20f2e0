"""Processes where nothing of the optional parts is installed: neither they nor what they need of others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ipucloud.parts import EXTRAS, MCP, PARTS, PROOFS, SCIM, SERVICE_PROXY, STRIPE
from tests.process.services import NOWHERE, each_of, outer, pipe, service
from tests.support.postgres import Database

BLOCKED = "import sys\nfor name in {names!r}:\n    sys.modules[name] = None\n"
"""What Python imports first: these cannot be imported after it."""
IMPORTING = """
import pkgutil
import ipucloud
left_out = []
for module in pkgutil.walk_packages(ipucloud.__path__, "ipucloud.", left_out.append):
    if not module.name.startswith(("ipucloud.extras", "ipucloud.laboratory")):
        __import__(module.name)
print([name for name in left_out if not name.startswith(("ipucloud.extras", "ipucloud.laboratory"))])
"""
PATHS = (
    (SCIM, "/scim/v2/Users"),
    (SERVICE_PROXY, "/v1/projects/demo/clusters/bert/services/web/proxy/"),
    (STRIPE, "/v1/billing/accounts/acme/payment-method"),
    (PROOFS, "/v1/billing/invoices/INV-2026-000001/proof"),
    (PROOFS, "/v1/billing/proof-keys"),
)


@pytest.fixture(autouse=True)
def blocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [EXTRAS, *(module for part in PARTS for module in part.needs)]
    (tmp_path / "sitecustomize.py").write_text(BLOCKED.format(names=names))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def test_the_api_serves_all_else_and_says_what_is_missing(tmp_path: Path, database: Database) -> None:
    with pipe() as (_, writing), service("api", writing, tmp_path, database.app_url) as api:
        assert api.inside.get("/readyz").json()["parts"] == []
        assert api.outside.get("/v1/whoami").status_code == 401
        assert api.outside.get("/openapi.json").json()["openapi"]
        for part, path in PATHS:
            answer = api.outside.get(path)
            assert (answer.status_code, answer.json()["code"]) == (501, "not_configured")
            assert answer.json()["detail"] == part.absence


def test_a_worker_works(tmp_path: Path, database: Database) -> None:
    with pipe() as (reading, writing):
        with service("worker", writing, tmp_path, database.app_url) as worker:
            assert worker.inside.get("/readyz").json()["parts"] == []
            assert worker.stop() == 0
        os.close(writing)
        events = {event["event"] for event in each_of(reading)}
    assert {"worker_started", "worker_stopped"} <= events


def test_every_module_of_the_product_can_be_imported() -> None:
    command = [sys.executable, "-c", IMPORTING]
    done = subprocess.run(command, env=outer(), capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_a_command_of_a_part_says_how_to_get_it() -> None:
    assert ipucloud("--help").returncode == 0
    done = ipucloud("mcp")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"pip install '.[{MCP.extra}]'" in done.stderr


def test_a_worker_does_not_start_with_the_key_of_a_part_that_is_not_there(database: Database) -> None:
    settings = {"IPUCLOUD_DATABASE_URL": database.app_url, "IPUCLOUD_SITE_URL": NOWHERE}
    done = ipucloud("worker", **settings, IPUCLOUD_STRIPE_SECRET_KEY="sk_test")
    assert done.returncode == 2
    assert f"IPUCLOUD_STRIPE_SECRET_KEY is set. {STRIPE.absence}" in done.stderr
    assert "sk_test" not in done.stderr


def ipucloud(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ipucloud.cli.main", *arguments]
    return subprocess.run(command, env=outer() | settings, capture_output=True, text=True, check=False, timeout=300)
