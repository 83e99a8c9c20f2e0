"""An object that has a name is addressed by it wherever its id is."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import httpx
import pytest

from tests.api.support import PUBLIC_KEY, Api, problem, s3_connection_json

pytestmark = pytest.mark.anyio

BUDGET = {"name": "NLP team", "amount": {"amount": "500.00", "currency": "EUR"}, "thresholds": [{"percent": 80}]}


async def test_a_cluster_is_read_changed_and_deleted_by_its_name(api: Api) -> None:
    operation = await api.make_cluster("bert")
    path = f"{api.base}/clusters/bert"
    read = await api.owner.get(path)
    assert read.json()["id"] == operation["target"]["id"]
    for below in ("poplar-servers", "partitions", "topology", "usage"):
        assert (await api.owner.get(f"{path}/{below}")).status_code == 200
    assert (await api.owner.patch(path, json={"tags": {"team": "nlp"}})).json()["tags"] == {"team": "nlp"}
    problem(await api.owner.post(f"{path}:suspend"), 409, "operation_in_progress")
    assert (await api.owner.delete(path)).json()["kind"] == "cluster.delete"


@pytest.mark.parametrize(
    ("noun", "body"),
    [
        ("ssh-keys", {"name": "home desk", "public_key": PUBLIC_KEY}),
        ("budgets", BUDGET),
        ("s3-connections", s3_connection_json()),
        ("tokens", {"name": "ci", "role": "viewer"}),
    ],
)
async def test_so_is_what_else_has_a_name(api: Api, noun: str, body: dict[str, object]) -> None:
    created = (await api.owner.post(f"{api.base}/{noun}", json=body)).json()
    assert (await api.owner.get(f"{api.base}/{noun}/{body['name']}")).json()["id"] == created["id"]
    assert (await api.owner.delete(f"{api.base}/{noun}/{body['name']}")).status_code == 204


async def test_an_account_and_its_budget_by_their_names(api: Api, admin: httpx.AsyncClient) -> None:
    account = {"name": "Example University", "currency": "EUR"}
    assert (await admin.post("/v1/billing/accounts", json=account)).status_code == 201
    path = "/v1/billing/accounts/Example University"
    assert (await admin.get(path)).json()["name"] == "Example University"
    assert (await admin.post(f"{path}/budgets", json=BUDGET)).status_code == 201
    assert (await admin.get(f"{path}/budgets/NLP team")).json()["scope"] == "account"


async def test_a_name_finds_nothing_of_others_and_nothing_ambiguous(api: Api) -> None:
    await api.make_cluster("bert")
    other = await api.other_project()
    stranger = api.client(other.token.secret)
    problem(await stranger.get(f"{api.base}/clusters/bert"), 404, "not_found")
    problem(await stranger.get(f"/v1/projects/{other.slug}/clusters/bert"), 404, "not_found")
    for _ in range(2):
        await api.owner.post(f"{api.base}/tokens", json={"name": "ci", "role": "viewer"})
    assert "id" in problem(await api.owner.get(f"{api.base}/tokens/ci"), 404, "not_found")["detail"]


@pytest.mark.parametrize("form", [str, lambda id_: id_.hex, lambda id_: f"urn:uuid:{id_}"])
async def test_no_name_has_the_form_of_an_id(api: Api, form: Callable[[UUID], str]) -> None:
    """Paths and bodies name objects by name or id: it would read as that of another one."""
    id_ = UUID("a1900000-0000-7000-8000-000000000001")
    for noun, more in (
        ("clusters", {}),
        ("ssh-keys", {"public_key": "ssh-ed25519 AAAA"}),
        ("s3-connections", {}),
        ("volumes", {}),
        ("addresses", {}),
        ("tokens", {"role": "viewer"}),
        ("budgets", BUDGET),
    ):
        answer = await api.owner.post(f"{api.base}/{noun}", json={**more, "name": form(id_)})
        faults = problem(answer, 422, "validation_failed")["errors"]
        assert "/name" in [fault["pointer"] for fault in faults], f"{noun}: {faults}"
