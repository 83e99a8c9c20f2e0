"""Programs start at once: what few of their runs need is not imported by all of them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

DOCUMENTS = {"PIL", "facturx", "fontTools", "fpdf", "lxml", "pypdf", "uharfbuzz"}
"""Invoices as PDF and as electronic ones."""
SELDOM = {
    *DOCUMENTS,
    *("aiosmtplib", "alembic", "joserfc", "markdown_it", "mcp", "obstore", "pyarrow", "requests", "scim2_models"),
    *("stripe", "yaml", "zxcvbn"),
}
CONNECTING = {"asyncssh", "cryptography.x509", "google.protobuf", "grpc", "wsproto"}
"""Talking to a site, to servers, over WebSockets."""
OTHERS = {"ipucloud.client", "ipucloud.laboratory"}
MODELS = "ipucloud.client.models.generated"
NOT_LOADED = {
    "ipucloud.cli.main": {"asyncio", "httpx", "ipucloud.client", "pydantic", "rich", "sqlalchemy"},
    "ipucloud.cli.commands.whoami": {
        *("asyncssh", "cryptography", "grpc", "mcp", "sqlalchemy", "starlette"),
        *(f"{MODELS}.{noun}" for noun in ("billing", "clusters", "operator", "shared")),
        *(f"ipucloud.client.{noun}" for noun in ("aio", "clusters", "me", "operations", "tokens")),
        "ipucloud.cli.commands.clusters",
    },
    "ipucloud.cli.service.api": {
        *(*SELDOM, *OTHERS, *CONNECTING),
        *(f"ipucloud.{area}" for area in ("billing.exports.schedules", "clusters.operations", "inventory", "worker")),
    },
    "ipucloud.cli.service.worker": {
        *(*SELDOM, *OTHERS, *CONNECTING, "argon2", "fastapi", "ipucloud.api", "ipucloud.contract.event_types"),
        *(f"ipucloud.{area}" for area in ("billing.bookkeeping", "invariants.audit", "partitions", "webhooks")),
        *(f"ipucloud.{area}.reconciler" for area in ("clusters", "observation", "validation")),
    },
    "ipucloud.laboratory.simulator.main": {*SELDOM, "fastapi", "ipucloud.client", "ipucloud.contract", "sqlalchemy"},
}
"""By what is imported when a program starts."""
LOADED = "import json, sys, {module}; print(json.dumps([*sys.modules]))"


@pytest.mark.parametrize(("module", "absent"), NOT_LOADED.items())
def test_a_program_starts_without(module: str, absent: set[str]) -> None:
    program = [sys.executable, "-c", LOADED.format(module=module)]
    loaded = json.loads(subprocess.run(program, capture_output=True, text=True, check=True).stdout)
    assert sorted(absent.intersection(loaded)) == []


def test_nouns_are_imported_signatures_read_and_models_built_when_they_are_used() -> None:
    program = """
import sys
from ipucloud.api.app import create_app
from ipucloud.api.nouns import every_route
from ipucloud.api.routing import ApiRoute, Router
from ipucloud.api.v1.all import NOUNS
from ipucloud.config import Settings
from ipucloud.contract.fields import Shape

def derived(model):
    for each in model.__subclasses__():
        yield each
        yield from derived(each)

app = create_app(Settings.model_construct())
assert not [name for name in sys.modules if isinstance(getattr(sys.modules[name], "routes", None), Router)]
assert next(iter(NOUNS)).routes()[0].arguments
routes = [route for route in every_route(app.routes) if isinstance(route, ApiRoute)]
assert len(routes) > 300
assert len([route.path for route in routes if "arguments" in vars(route)]) == 1
built = [model for model in derived(Shape) if model.__pydantic_complete__]  # the catalogue, and defaults of fields
assert len(built) < len([*derived(Shape)]) / 10, built
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("module", ["typer", "ipucloud.cli.commands.whoami", "ipucloud.client.sync"])
def test_an_interrupt_while_a_command_is_imported_ends_it_without_a_word(module: str) -> None:
    program = f"""
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "{module}":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv = ["ipucloud", "whoami"]
from ipucloud.cli.entry import main
main()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")
