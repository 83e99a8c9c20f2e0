"""The operator's SMTP server.

An attempt has three outcomes: the server accepted the mail; it refused it for good; or neither is known, and the mail
is sent again, with the same Message-ID.
"""

from __future__ import annotations

import asyncio
import ssl
from email.message import EmailMessage
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from ipucloud.config import Settings

if TYPE_CHECKING:
    import aiosmtplib

_PERMANENT = 500


class Outcome(StrEnum):
    """What became of an attempt."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Attempt(NamedTuple):
    """`why`: the server's words, or the kind of failure; None when it accepted."""

    outcome: Outcome
    why: str | None = None


class Smtp:
    """Sends mails of `sender`, each on a connection of its own to the server that `settings` name."""

    def __init__(self, settings: Settings, sender: str) -> None:
        self.sender = sender
        self._settings = settings

    async def send(self, mail: EmailMessage) -> Attempt:
        """Try once. Never raises for what the server or the network does."""
        import aiosmtplib

        settings = self._settings
        try:
            async with asyncio.timeout(settings.smtp_timeout):
                password = await asyncio.to_thread(settings.smtp_secret)
                await aiosmtplib.send(
                    mail,
                    hostname=settings.smtp_host,
                    port=settings.smtp_port,
                    use_tls=settings.smtp_tls == "tls",
                    start_tls=settings.smtp_tls == "starttls",
                    tls_context=None if settings.smtp_tls == "none" else await asyncio.to_thread(self._context),
                    username=settings.smtp_user,
                    password=password,
                    timeout=settings.smtp_timeout,
                )
        except aiosmtplib.SMTPRecipientsRefused as error:
            refused = all(each.code >= _PERMANENT for each in error.recipients)
            return Attempt(Outcome.REFUSED if refused else Outcome.UNKNOWN, _words(error.recipients[0]))
        except (aiosmtplib.SMTPSenderRefused, aiosmtplib.SMTPDataError) as error:
            return Attempt(Outcome.REFUSED if error.code >= _PERMANENT else Outcome.UNKNOWN, _words(error))
        except (aiosmtplib.SMTPException, OSError, TimeoutError, ValueError) as error:
            return Attempt(Outcome.UNKNOWN, type(error).__name__)
        return Attempt(Outcome.ACCEPTED)

    def _context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self._settings.smtp_ca_file)


def _words(error: aiosmtplib.SMTPResponseException) -> str:
    """As PostgreSQL can store it, whatever the server said."""
    words = f"{error.code} {error.message}"[:200]
    return words.encode(errors="replace").decode().replace("\x00", "?")
