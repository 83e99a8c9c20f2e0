"""The text of e-mails. They have names and times, and no secret but the link of an invitation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Literal, NamedTuple
from uuid import UUID

from ipucloud.notifications.words import NOUNS, VERBS

Language = Literal["en", "de"]


class Happened(NamedTuple):
    """An event, as a mail tells of it."""

    type: str
    project: str
    subject_type: str
    subject_id: str
    name: str | None
    actor: str | None
    at: datetime
    reason: str | None = None


class Invited(NamedTuple):
    """An invitation, as a mail tells of it. `project` None: to a billing account."""

    project: str | None
    invited_by: str | None
    link: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Letter:
    """Subject and plain text of a mail."""

    subject: str
    text: str


def of_event(event: Happened, language: Language, panel: str | None) -> Letter:
    """`panel`: address of the control panel."""
    noun, _, verb = event.type.partition(".")
    nouns, verbs = NOUNS[language], VERBS[language]
    about = f"{nouns.get(noun, noun)} {event.name}" if event.name else nouns.get(noun, noun)
    subject = f"[{event.project}] {about}: {verbs.get(verb, verb)}"
    english = language == "en"
    lines = [
        f"{about}: {verbs.get(verb, verb)}.",
        "",
        f"{'Project' if english else 'Projekt'}: {event.project}",
        f"{'Time' if english else 'Zeit'}: {event.at:%Y-%m-%d %H:%M:%S} UTC",
        f"{'Event' if english else 'Ereignis'}: {event.type}",
        f"{'About' if english else 'Betrifft'}: {event.subject_type} {event.subject_id}",
    ]
    if event.actor:
        lines.append(f"{'By' if english else 'Von'}: {event.actor}")
    if event.reason:
        lines.append(f"{'Why' if english else 'Grund'}: {event.reason}")
    if panel:
        lines += ["", f"{panel}/events"]
    lines += [
        "",
        "You chose to get this e-mail. `ipucloud notifications` and the control panel change that."
        if english
        else "Sie haben diese E-Mail gewählt. `ipucloud notifications` und das Bedienfeld ändern das.",
    ]
    return Letter(subject, "\n".join(lines) + "\n")


def of_invitation(invited: Invited, language: Language) -> Letter:
    """The mail with the link."""
    until = f"{invited.until:%Y-%m-%d %H:%M} UTC"
    if language == "de":
        where = f"zum Projekt {invited.project}" if invited.project else "zu einem Abrechnungskonto"
        who = f"{invited.invited_by} hat Sie" if invited.invited_by else "Sie wurden"
        lines = [
            f"{who} {where} eingeladen.",
            "",
            f"Nehmen Sie die Einladung bis {until} hier an:",
            invited.link,
            "",
            "Der Link gilt einmal. Geben Sie ihn nicht weiter: Wer ihn hat, kann die Einladung annehmen.",
        ]
        return Letter(f"Einladung {where}", "\n".join(lines) + "\n")
    where = f"to the project {invited.project}" if invited.project else "to a billing account"
    who = f"{invited.invited_by} invited you" if invited.invited_by else "You are invited"
    lines = [
        f"{who} {where}.",
        "",
        f"Accept the invitation by {until}:",
        invited.link,
        "",
        "The link works once. Do not pass it on: whoever has it can accept the invitation.",
    ]
    return Letter(f"Invitation {where}", "\n".join(lines) + "\n")


def message(mail_id: UUID, letter: Letter, *, sender: str, recipient: str, at: datetime) -> EmailMessage:
    """The mail as it is sent; the same `Message-ID` at every try, so that receivers recognise duplicates."""
    mail = EmailMessage()
    mail["From"] = sender
    mail["To"] = recipient
    mail["Subject"] = " ".join(letter.subject.split())
    mail["Date"] = format_datetime(at)
    mail["Message-ID"] = f"<{mail_id}@{sender.rpartition('@')[2].rstrip('>')}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(letter.text)
    return mail
