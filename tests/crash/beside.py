"""The kinds of trial in which servers get what no operation brings: S3 connections, source rules, notices, and keys."""

from __future__ import annotations

from uuid import UUID

import asyncssh

from ipucloud.billing.exports.connections import Bucket, Rules, connect
from ipucloud.clusters.preemption.server_files import show_on_servers
from ipucloud.identity.members import Home
from ipucloud.kernel.sealing import read_keys
from ipucloud.programs.terminals import store
from tests.crash.kinds import Beside
from tests.crash.lab import Lab
from tests.support.waiting import until
from tests.support.world import SECRETS_KEY

_BUCKET = Bucket("data", "https://s3.example", "eu", "data", "", "key", "very-secret", attachable=True)
_RULES = Rules(read_keys(SECRETS_KEY), private_too=False, ports=frozenset({443}))
_HAS_BUCKET = """
SELECT bool_and(s.s3_revision IS NOT DISTINCT FROM c.s3_revision)
  FROM clusters c JOIN poplar_servers s ON s.cluster_id = c.id WHERE c.id = :id
"""
_HAS_NOTICE = """
SELECT bool_and(s.notice_revision IS NOT DISTINCT FROM c.notice_revision) AND min(c.notice_revision) > 0
  FROM clusters c JOIN poplar_servers s ON s.cluster_id = c.id WHERE c.id = :id
"""
_HAS_SOURCES = """
SELECT bool_and(s.sources_revision IS NOT DISTINCT FROM c.sources_revision AND s.allowed_sources = c.allowed_sources)
  FROM clusters c JOIN poplar_servers s ON s.cluster_id = c.id WHERE c.id = :id
"""
_LAST = "SELECT id FROM terminals WHERE cluster_id = :id ORDER BY created_at DESC, id DESC LIMIT 1"


class ChangeS3(Beside):
    name = "change-s3"

    async def start(self, lab: Lab, cluster: UUID) -> None:
        if not await lab.value("SELECT count(*) FROM s3_connections"):
            async with lab.database.begin() as connection:
                await connect(connection, Home(lab.project.id, None), _BUCKET, _RULES)
        has = await lab.value("SELECT count(*) FROM cluster_s3_connections WHERE cluster_id = :id", id=cluster)
        await lab.update(cluster, s3_connections=[] if has else [_BUCKET.name])

    async def complete(self, lab: Lab, cluster: UUID) -> None:
        await until(lambda: lab.value(_HAS_BUCKET, id=cluster), "the server has the connection")


class ChangeSources(Beside):
    name = "change-sources"

    async def start(self, lab: Lab, cluster: UUID) -> None:
        before = await lab.value("SELECT allowed_sources FROM clusters WHERE id = :id", id=cluster)
        await lab.update(cluster, allowed_sources=[] if before else ["127.0.0.0/8"])

    async def complete(self, lab: Lab, cluster: UUID) -> None:
        await until(lambda: lab.value(_HAS_SOURCES, id=cluster), "the site enforces the sources")


class ShowNotice(Beside):
    name = "show-notice"

    async def start(self, lab: Lab, cluster: UUID) -> None:
        async with lab.database.begin() as connection:
            await show_on_servers(connection, project_id=lab.project.id, cluster_id=cluster)

    async def complete(self, lab: Lab, cluster: UUID) -> None:
        await until(lambda: lab.value(_HAS_NOTICE, id=cluster), "the server has the notice")


class OpenTerminal(Beside):
    """The key of a terminal is brought to its server, and taken away."""

    name = "open-terminal"

    async def start(self, lab: Lab, cluster: UUID) -> None:
        server = await lab.value("SELECT name FROM poplar_servers WHERE cluster_id = :id", id=cluster)
        key = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
        async with lab.database.begin() as connection:
            await store.request(connection, lab.project.actor, cluster, server, public_key=key, limit=1_000)

    async def complete(self, lab: Lab, cluster: UUID) -> None:
        terminal: UUID = await lab.value(_LAST, id=cluster)
        let_in = "SELECT coalesce(key_seen_at, key_gone_at) IS NOT NULL FROM terminals WHERE id = :id"
        await until(lambda: lab.value(let_in, id=terminal), "the key is let in")
        async with lab.database.begin() as connection:
            await store.end(connection, terminal, "client")
        gone = "SELECT key_gone_at IS NOT NULL FROM terminals WHERE id = :id"
        await until(lambda: lab.value(gone, id=terminal), "the key is taken away")


BESIDE = (ChangeS3(), ChangeSources(), ShowNotice(), OpenTerminal())
