"""Which events a person gets by e-mail."""

from __future__ import annotations

import pytest

from ipucloud.identity.roles import Role
from tests.api.people import logged_in, person
from tests.api.support import UNLIMITED, Api, problem, running
from tests.support.people import make_member
from tests.support.postgres import Database as Scratch
from tests.support.world import World

pytestmark = pytest.mark.anyio

NOTIFICATIONS = "/v1/me/notifications"
SMTP: dict[str, object] = {"smtp_host": "127.0.0.1", "smtp_from": "cloud@ipucloud.example"}


@pytest.fixture
def settings() -> dict[str, object]:
    return UNLIMITED | SMTP


async def test_a_person_chooses_events_by_project(api: Api) -> None:
    ann, other = await person(api), await api.other_project()
    async with api.world.database.begin() as connection:
        await make_member(connection, ann.id, other.id, Role.OWNER)
    client, ours = await logged_in(api, ann, project=api.world.project.slug), api.world.project.slug
    nothing = (await client.get(NOTIFICATIONS)).json()
    assert nothing == {"available": True, "email": ann.email, "language": "en", "subscriptions": []}
    subscriptions = [
        {"project": ours, "event_types": ["operation.failed", "budget.*"]},
        {"project": str(other.id), "event_types": ["cluster.*"]},
    ]
    chosen = (await client.put(NOTIFICATIONS, json={"language": "de", "subscriptions": subscriptions})).json()
    assert chosen == (await client.get(NOTIFICATIONS)).json()
    types = {each["project"]: each["event_types"] for each in chosen["subscriptions"]}
    assert types == {ours: ["budget.*", "operation.failed"], other.slug: ["cluster.*"]}
    assert chosen["language"] == "de"
    fewer = (await client.put(NOTIFICATIONS, json={"language": "de", "subscriptions": subscriptions[:1]})).json()
    assert [each["project"] for each in fewer["subscriptions"]] == [ours]


async def test_what_cannot_be_chosen_changes_nothing(api: Api) -> None:
    ann, other = await person(api), await api.other_project()
    client, ours = await logged_in(api, ann), api.world.project.slug
    right = {"project": ours, "event_types": ["cluster.*"]}
    before = await api.snapshot()
    for wrong, status, code in (
        ({"project": other.slug, "event_types": ["cluster.*"]}, 403, "not_a_member"),
        ({"project": ours, "event_types": ["cluster.burning"]}, 422, "validation_failed"),
        ({"project": ours, "event_types": []}, 422, "validation_failed"),
    ):
        refused = await client.put(NOTIFICATIONS, json={"language": "en", "subscriptions": [right, wrong]})
        problem(refused, status, code)
    refused = await client.put(NOTIFICATIONS, json={"language": "fr", "subscriptions": [right]})
    problem(refused, 422, "validation_failed")
    problem(await api.owner.put(NOTIFICATIONS, json={"language": "en", "subscriptions": []}), 409, "state_conflict")
    problem(await api.owner.get(NOTIFICATIONS), 409, "state_conflict")
    assert await api.snapshot() == before


async def test_without_a_mail_server_links_are_passed_on_by_hand(world: World, database: Scratch) -> None:
    async with running(world, database.app_url) as api:
        client = await logged_in(api, await person(api))
        assert not (await client.get(NOTIFICATIONS)).json()["available"]
        subscriptions = [{"project": api.world.project.slug, "event_types": ["cluster.*"]}]
        refused = await client.put(NOTIFICATIONS, json={"language": "en", "subscriptions": subscriptions})
        problem(refused, 501, "not_configured")
        body = {"email": "bea@example.com", "role": "viewer"}
        assert not (await api.owner.post(f"{api.base}/invitations", json=body)).json()["emailed"]
