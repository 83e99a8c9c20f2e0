"""SSH certificates at the simulated site: the ordinary OpenSSH client logs in with them, and stops being let in."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

import pytest

from ipucloud.contract.ssh_keys import SshCertificateOut, SshCertificateRequest
from ipucloud.identity import ssh_authorities
from ipucloud.identity.roles import Role
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT
from ipucloud.policies.authority_rollout import roll_out_authorities
from ipucloud.programs.certificates import certify
from tests.support.machine import Need, needs, program
from tests.support.openssh import KeyPair, OpenSsh, make_key
from tests.support.people import make_owned, make_person
from tests.support.postgres import Database as Scratch
from tests.support.world import SiteWorld
from tests.support.world.clock import shift_clock, start_clock
from tests.worker.customers import refused

pytestmark = [pytest.mark.anyio, needs(Need.OPENSSH)]


@dataclass(frozen=True)
class Member:
    """A member of the project at their own computer."""

    world: SiteWorld
    folder: Path
    actor: Actor
    email: str
    key: KeyPair

    async def certificate(self, cluster: UUID, *, valid_seconds: int | None = None) -> SshCertificateOut:
        body = SshCertificateRequest(public_key=self.key.public_line, valid_seconds=valid_seconds)
        return await self.world.database.transact(
            lambda connection: certify(connection, self.actor, cluster, body=body, settings=self.world.settings)
        )

    async def login(self, certificate: SshCertificateOut, *command: str, user: str = "ubuntu") -> str | None:
        """What the command prints at the only server; None: she was not let in."""
        row = await self.world.one("SELECT * FROM poplar_servers WHERE state = 'running'")
        file = self.folder / "ada-cert.pub"
        file.write_text(certificate.certificate + "\n")
        there = OpenSsh.to(row, self.key, self.folder)
        flags = ["-o", f"CertificateFile={file}"]
        done = await asyncio.to_thread(there.ssh, *command, user=user, flags=flags)
        if done.returncode == 0:
            return done.stdout.decode()
        assert b"Permission denied" in done.stderr, done.stderr
        return None


@pytest.fixture
async def ada(world: SiteWorld, tmp_path: Path) -> Member:
    async with world.database.begin() as connection:
        person = await make_person(connection, world.project.id, Role.OPERATOR)
        token = await make_owned(connection, person, world.project.id, Role.OPERATOR)
    actor = Actor(world.project.id, token.id, "test")
    return Member(world, tmp_path, actor, person.email, make_key(tmp_path, "ada"))


async def rotate(world: SiteWorld) -> None:
    keys = world.settings.sealing_keys()
    assert keys is not None
    await world.database.transact(lambda connection: ssh_authorities.rotate(connection, world.actor(), keys))


async def changes(world: SiteWorld) -> list[UUID]:
    """The operations that brought keys and authorities to servers, oldest first."""
    return await world.column("SELECT id FROM operations WHERE kind = 'cluster.update-keys' ORDER BY created_at")


async def shown(certificate: SshCertificateOut, folder: Path) -> str:
    """What OpenSSH reads in a certificate."""
    file = folder / "shown-cert.pub"
    file.write_text(certificate.certificate)
    listing = await asyncio.to_thread(
        subprocess.run, [program("ssh-keygen"), "-L", "-f", str(file)], capture_output=True, check=True, timeout=60
    )
    return listing.stdout.decode()


async def test_a_certificate_logs_in_at_its_cluster_until_it_ends(
    database: Scratch, world: SiteWorld, ada: Member, tmp_path: Path
) -> None:
    async with world.worker():
        bert = await world.build(ssh_keys=["ours"])
        certificate = await ada.certificate(bert)
        assert await ada.login(certificate, "echo here") == "here\n"
        assert await ada.login(certificate, "true", user="root") is None
        facts = await shown(certificate, tmp_path)
        assert f'Key ID: "{ada.email}#1"' in facts
        assert f"Principals: \n                {bert}\n" in facts
        extensions = facts.partition("Extensions:")[2].split()
        assert extensions == ["permit-port-forwarding", "permit-pty"]
        assert (certificate.valid_until - certificate.valid_from).total_seconds() == 3600 + 60
        # An hour and a minute ago one was issued that has ended since.
        shift_clock(database.owner_url, "-1 hour -1 minute")
        try:
            ended = await ada.certificate(bert)
        finally:
            start_clock(database.owner_url)
        assert await ada.login(ended, "true") is None


async def test_a_certificate_of_another_cluster_or_project_is_refused(
    world: SiteWorld, ada: Member, tmp_path: Path
) -> None:
    async with world.worker():
        bert = await world.build(ssh_keys=["ours"])
        of_bert = await ada.certificate(bert)
        await world.succeeded(await world.delete(bert))
        gpt = await world.build("gpt", ssh_keys=["ours"])
        of_gpt = await ada.certificate(gpt)
        assert (await ada.login(of_bert, "true"), await ada.login(of_gpt, "true")) == (None, "")
        # As another project's authority would sign: the same cluster, by another key.
        authority, public = make_key(tmp_path, "ca").private, tmp_path / "ada.pub"
        signing = [program("ssh-keygen"), "-q", "-s", str(authority), "-I", "ada", "-n", f"{gpt},ubuntu", str(public)]
        await asyncio.to_thread(subprocess.run, signing, check=True)
        stranger = of_gpt.model_copy(update={"certificate": (tmp_path / "ada-cert.pub").read_text().strip()})
        assert await ada.login(stranger, "true") is None


async def test_a_rotation_ends_certificates_and_keeps_keys(
    world: SiteWorld, ada: Member, pairs: Mapping[str, KeyPair]
) -> None:
    async with world.worker():
        bert = await world.build(ssh_keys=["ours"])
        before = await ada.certificate(bert)
        await roll_out_authorities(world.database)
        assert await changes(world) == []
        await rotate(world)
        problem = await refused(ada.certificate(bert))
        assert (problem.kind, "rotated" in problem.detail) == (STATE_CONFLICT, True)
        await roll_out_authorities(world.database)
        [change] = await changes(world)
        await world.succeeded(change)
        after = await ada.certificate(bert)
        assert (await ada.login(before, "true"), await ada.login(after, "true")) == (None, "")
        assert await replace(ada, key=pairs["ours"]).login(before, "true") == ""
        await roll_out_authorities(world.database)
        assert await changes(world) == [change]
        assert await world.value("SELECT count(*) FROM ssh_authorities WHERE private_key IS NOT NULL") == 1


async def test_a_rotation_that_a_site_refuses_is_tried_again(database: Scratch, world: SiteWorld, ada: Member) -> None:
    async with world.worker():
        bert = await world.build(ssh_keys=["ours"])
        await rotate(world)
        world.fault(call="hosts.put_keys", action="status", status=422)
        await roll_out_authorities(world.database)
        [first] = await changes(world)
        assert (await world.finished(first)).state == "failed"
        world.clear_faults()
        await roll_out_authorities(world.database)
        assert await changes(world) == [first]
        assert (await refused(ada.certificate(bert))).kind is STATE_CONFLICT
        shift_clock(database.owner_url, "6 minutes")
        await roll_out_authorities(world.database)
        [_, second] = await changes(world)
        await world.succeeded(second)
        trusted = (
            "SELECT s.ssh_authority = a.public_key FROM poplar_servers s, ssh_authorities a WHERE a.ended_at IS NULL"
        )
        assert await world.value(trusted)


async def test_a_suspended_cluster_trusts_the_rotated_authority_from_its_resume_on(
    world: SiteWorld, ada: Member
) -> None:
    async with world.worker():
        bert = await world.build(ssh_keys=["ours"])
        before = await ada.certificate(bert)
        await world.succeeded(await world.suspend(bert))
        await rotate(world)
        await roll_out_authorities(world.database)
        assert await changes(world) == []
        assert "resume it first" in (await refused(ada.certificate(bert))).detail
        await world.succeeded(await world.resume(bert))
        assert await ada.login(before, "true") is None
        assert await ada.login(await ada.certificate(bert), "true") == ""


async def test_an_older_cluster_trusts_the_authority_once_its_keys_are_set_again(world: SiteWorld, ada: Member) -> None:
    settings = world.settings
    async with world.worker():
        world.settings = settings.model_copy(update={"secrets_key": None})  # as before there were authorities
        bert = await world.build(ssh_keys=["ours"])
        world.settings = settings
        problem = await refused(ada.certificate(bert))
        assert (problem.kind, "Change its SSH keys" in problem.detail) == (STATE_CONFLICT, True)
        await world.update(bert, ssh_keys=["ours"])
        [change] = await changes(world)
        await world.succeeded(change)
        assert await ada.login(await ada.certificate(bert), "true") == ""
