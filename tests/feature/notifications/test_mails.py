"""E-mails of events and invitations, from the event log to a real SMTP server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from ipucloud.config import Settings
from ipucloud.contract.event_payloads.clusters import ClusterEntered
from ipucloud.contract.event_payloads.projects import MemberRemoved, OperationOf, TokenMade
from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.contract.event_types.projects import MEMBER_REMOVED
from ipucloud.contract.notifications import SubscriptionChoice
from ipucloud.db.engine import Database
from ipucloud.events.log import act_as, record
from ipucloud.identity import invitations
from ipucloud.identity.members import Home
from ipucloud.identity.people import Membership, User
from ipucloud.identity.roles import Role
from ipucloud.kernel.sealing import new_key, read_keys
from ipucloud.notifications import store
from tests.feature.webhooks.customer import messenger
from tests.support.certificates import certify
from tests.support.factories import Project, make_project
from tests.support.feed import settled
from tests.support.mailbox import PASSWORD, USER, Mailbox, mailbox
from tests.support.people import Person, make_person
from tests.support.postgres import Database as Scratch
from tests.support.waiting import until
from tests.support.world.clock import shift_clock

pytestmark = pytest.mark.anyio

KEY = new_key()
DATA = {
    "cluster.active": ClusterEntered(),
    "operation.failed": OperationOf(kind="cluster.create"),
    "token.created": TokenMade(name="ci", role="operator"),
}


class Mailer:
    """A project whose members get e-mails, and the worker that sends them."""

    def __init__(self, database: Database, project: Project, scratch: Scratch, box: Mailbox) -> None:
        self.database, self.project, self.scratch, self.box = database, project, scratch, box
        self.settings = Settings(
            secrets_key=SecretStr(KEY),
            webhook_interval=0.02,
            poll_seconds=0.02,
            smtp_host="127.0.0.1",
            smtp_port=box.port,
            smtp_tls="none",
            smtp_from="cloud@ipucloud.example",
            public_url="https://ipucloud.example/",
        )

    async def member(self, *types: str, language: str = "en", email: str | None = None) -> Person:
        async with self.database.begin() as connection:
            person = await make_person(connection, self.project.id, email=email)
            where = [Membership(person.member, Role.VIEWER, self.project.id, self.project.slug, None)]
            subscriptions = [SubscriptionChoice(project=self.project.slug, event_types=list(types))]
            await store.replace(
                connection, User(person.id, person.email, None, verified=True), where, language, subscriptions
            )
        return person

    async def emit(self, kind: str) -> None:
        async with self.database.begin() as connection:
            await act_as(connection, "bob@example.com")
            await record(
                connection,
                REGISTRY[kind],
                project_id=self.project.id,
                subject_id=UUID(int=7),
                subject_type=REGISTRY[kind].subjects[0],
                data=DATA.get(kind),
            )
        await settled(self.database)

    def worker(self, **changes: Any) -> AbstractAsyncContextManager[None]:
        return messenger(self.database.url, self.settings.model_copy(update=changes))

    async def mails(self) -> list[tuple[str, int]]:
        async with self.database.read() as connection:
            rows = await connection.execute(sa.text("SELECT state, tries FROM mails ORDER BY created_at, id"))
            return [(row.state, row.tries) for row in rows]

    async def until(self, *states: tuple[str, int]) -> None:
        async def reached() -> bool:
            return await self.mails() == list(states)

        await until(reached, f"mails are {states}")


@pytest.fixture
async def box() -> AsyncIterator[Mailbox]:
    async with mailbox() as started:
        yield started


@pytest.fixture
async def mailer(db: Database, database: Scratch, box: Mailbox) -> Mailer:
    async with db.begin() as connection:
        project = await make_project(connection)
    return Mailer(db, project, database, box)


async def test_a_member_gets_the_chosen_events_once_in_their_language(mailer: Mailer) -> None:
    await mailer.emit("operation.failed")  # before anybody chose
    ann = await mailer.member("operation.failed", "budget.*")
    dora = await mailer.member("cluster.*", language="de")
    for kind in ("operation.failed", "cluster.active", "token.created"):
        await mailer.emit(kind)
    async with mailer.worker():
        await mailer.until(("sent", 1), ("sent", 1))
    async with mailer.worker():  # another worker finds nothing to do
        await mailer.emit("token.created")
    to = {mail["To"]: mail for mail in mailer.box.got}
    assert len(mailer.box.got) == 2
    slug = mailer.project.slug
    assert to[ann.email]["Subject"] == f"[{slug}] Operation: failed"
    assert to[dora.email]["Subject"] == f"[{slug}] Cluster: ist aktiv"
    text = to[dora.email].get_content()
    assert f"Projekt: {slug}" in text
    assert "Von: bob@example.com" in text
    assert "https://ipucloud.example/events" in text
    assert to[ann.email]["From"] == "cloud@ipucloud.example"
    assert to[ann.email]["Auto-Submitted"] == "auto-generated"


async def test_a_mail_about_a_member_names_them_and_says_why(mailer: Mailer) -> None:
    ann = await mailer.member("member.*")
    why = "The e-mail was verified when the person opened a link that only the mailbox got."
    async with mailer.database.begin() as connection:
        data = MemberRemoved(email="bea@example.com", role="owner", reason=why)
        home = Home(mailer.project.id, None)
        await home.note(connection, MEMBER_REMOVED, ann.member, data)
    await settled(mailer.database)
    async with mailer.worker():
        await mailer.until(("sent", 1))
    [mail] = mailer.box.got
    assert "Member bea@example.com: removed" in mail["Subject"]
    assert f"Why: {why}" in " ".join(mail.get_content().split())


async def test_what_is_not_known_to_be_accepted_is_sent_again_with_the_same_id(mailer: Mailer) -> None:
    await mailer.member("cluster.*")
    mailer.box.answers += ["451 try later", ""]
    await mailer.emit("cluster.active")
    async with mailer.worker():
        await mailer.until(("pending", 1))
        shift_clock(mailer.scratch.owner_url, "1 minute")
        await mailer.until(("pending", 2))
        shift_clock(mailer.scratch.owner_url, "10 minutes")
        await mailer.until(("sent", 3))
    first, second = mailer.box.got
    assert first["Message-ID"] == second["Message-ID"]


async def test_a_mail_that_is_refused_for_good_is_not_sent_again(mailer: Mailer) -> None:
    await mailer.member("cluster.*")
    mailer.box.recipients += ["550 no such user \x00"]  # a character that PostgreSQL does not store
    await mailer.emit("cluster.active")
    async with mailer.worker():
        await mailer.until(("failed", 1))
    assert mailer.box.got == []


async def test_a_server_that_is_not_there_loses_nothing(mailer: Mailer) -> None:
    await mailer.member("cluster.*")
    await mailer.emit("cluster.active")
    async with mailer.worker(smtp_port=1):
        await mailer.until(("pending", 1))
    shift_clock(mailer.scratch.owner_url, "1 minute")
    async with mailer.worker():
        await mailer.until(("sent", 2))


async def test_a_removed_member_gets_nothing_more(mailer: Mailer) -> None:
    ann = await mailer.member("cluster.*")
    await mailer.emit("cluster.active")
    async with mailer.worker(smtp_port=1):
        await mailer.until(("pending", 1))
    async with mailer.database.begin() as connection:
        await connection.execute(sa.text("UPDATE tokens SET revoked_at = app_now() WHERE id = :id"), {"id": ann.member})
    shift_clock(mailer.scratch.owner_url, "1 minute")
    async with mailer.worker():
        await mailer.until(("dropped", 1))
        await mailer.emit("cluster.active")
    assert mailer.box.got == []
    assert await mailer.mails() == [("dropped", 1)]


async def test_an_invitation_is_sent_by_a_server_with_tls_and_its_link_is_not_kept(
    mailer: Mailer, tmp_path: Path
) -> None:
    certified = certify("localhost", tmp_path)
    home = Home(mailer.project.id, None, "r1")
    async with mailer.database.begin() as connection:
        await act_as(connection, "ann@example.com")
        invitation, secret = await invitations.invite(
            connection, home, email="bea@example.com", role=Role.VIEWER, seconds=3600, mailed=True
        )
        for link in ("https://x.example/invitation#secret=old", f"https://x.example/invitation#secret={secret}"):
            mail = store.InvitationMail(invitation, "bea@example.com", link, home)
            await store.mail_invitation(connection, mail, read_keys(KEY))
    async with mailer.database.read() as connection:
        kept = (await connection.execute(sa.text("SELECT string_agg(mails::text, ' ') FROM mails"))).scalar_one()
    assert secret not in kept
    async with mailbox(certified) as box:
        secure = {
            "smtp_host": "localhost",
            "smtp_port": box.port,
            "smtp_tls": "starttls",
            "smtp_ca_file": certified.authority,
            "smtp_user": USER,
            "smtp_password": SecretStr(PASSWORD),
        }
        async with mailer.worker(**secure | {"smtp_ca_file": None}):  # a server that nobody vouches for gets nothing
            await mailer.until(("dropped", 0), ("pending", 1))
        shift_clock(mailer.scratch.owner_url, "1 minute")
        async with mailer.worker(**secure):
            await mailer.until(("dropped", 0), ("sent", 2))
        [got] = box.got
    assert got["Subject"] == f"Invitation to the project {mailer.project.slug}"
    assert f"https://x.example/invitation#secret={secret}" in got.get_content()
    async with mailer.database.read() as connection:
        assert (await connection.execute(sa.text("SELECT count(link) FROM mails"))).scalar_one() == 0
