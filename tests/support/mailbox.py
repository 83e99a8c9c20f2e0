"""A real SMTP server in the test's process, which can refuse, hang up, and speak TLS."""

from __future__ import annotations

import asyncio
import email
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult

from tests.support.certificates import Certified

USER, PASSWORD = "ipucloud", "of-the-mail-server"


@dataclass
class Mailbox:
    """What arrived. `answers`: replies to further messages, instead of an acceptance; "" closes the connection."""

    port: int = 0
    got: list[EmailMessage] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    """Replies to further recipients."""

    async def handle_RCPT(self, server: Any, _session: Any, envelope: Any, address: str, _options: Any) -> str:  # noqa: N802
        del server
        if self.recipients:
            return self.recipients.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        if self.answers:
            answer = self.answers.pop(0)
            if answer:
                return answer
            self._keep(envelope)  # accepted, but nobody is told
            server.transport.abort()
            return "250 OK"
        self._keep(envelope)
        return "250 OK"

    def _keep(self, envelope: Any) -> None:
        self.got.append(email.message_from_bytes(envelope.content, policy=default))


def _knows(_server: Any, _session: Any, _envelope: Any, mechanism: str, data: Any) -> AuthResult:
    login = (getattr(data, "login", b""), getattr(data, "password", b""))
    return AuthResult(success=mechanism in {"PLAIN", "LOGIN"} and login == (USER.encode(), PASSWORD.encode()))


@asynccontextmanager
async def mailbox(certified: Certified | None = None) -> AsyncIterator[Mailbox]:
    """A server until the end of the block; with a certificate it demands STARTTLS and authentication."""
    box = Mailbox()
    options: dict[str, Any] = {}
    if certified is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certified.certificate, certified.key)
        options = {"tls_context": context, "require_starttls": True, "authenticator": _knows, "auth_required": True}
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(box, loop=loop, hostname="mail", **options), "127.0.0.1", 0)
    async with server:
        box.port = server.sockets[0].getsockname()[1]
        yield box
