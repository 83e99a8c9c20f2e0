"""Writes docs/operations/settings.md from the settings that processes read.

Run it from anywhere, in the project's environment: python docs/generate_settings.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic.fields import FieldInfo

from ipucloud.config import Settings
from ipucloud.config.constants import Constants

PAGE = Path(__file__).with_name("operations") / "settings.md"
INTRODUCTION = """<!-- Written by docs/generate_settings.py; do not edit. -->

# Settings

For operators: every setting of the processes, and how to replace secrets while they run.

A setting is an environment variable, shown with its default and read once at start. Two are read again: the
[catalogue](catalogue.md) on SIGHUP, and [files with secrets](#replace-secrets) when they change. Set either a secret or
its file. Durations are seconds, up to 30 days. A process with an invalid setting exits with status 2 and names it.

[The command line](../cli.md#connect) has the variables of the customer's commands,
[containers](../containers.md#variables) those of Compose.
"""
SECTIONS = {
    "environment": ("Installation", ""),
    "database_url": (
        "Database",
        "Connections to PostgreSQL: an API process has up to 3 × `IPUCLOUD_DATABASE_POOL_SIZE` + 1, a worker up to 18,"
        "\nand each of up to 4 exports in progress has 2 more. `pg_stat_activity` shows them as `ipucloud api`,"
        " `ipucloud worker` and\n`ipucloud export`. A worker's 2 listening connections must be direct or through a"
        " pooler in session mode.",
    ),
    "secrets_key": (
        "Key for stored secrets",
        "The key encrypts what customers store: webhook secrets, S3 keys, user data, SSH authorities. Keep a copy apart"
        "\nfrom the database's backups; `ipucloud up` creates one in its data directory. Without a key, webhooks and S3"
        "\nconnections are refused with `501 not_configured`, and user data is stored unencrypted. What another key"
        "\nencrypted cannot be used: clusters and deliveries wait, and say so.",
    ),
    "site_url": ("Sites and V-IPU controllers", "See [the V-IPU controller](../vipu.md)."),
    "observation_limit": ("Observation and validation", "See [hardware](hardware.md)."),
    "host": ("Listeners of the API", "See [the network](network.md)."),
    "connection_limit": (
        "Limits of the API",
        "Each holds for one API process. See [clients that cost too much](network.md#clients-that-cost-too-much).",
    ),
    "session_seconds": (
        "People",
        "See [sign-in and e-mail](sign-in.md), [the audit log](../security.md#the-audit-log) and"
        " [SSH certificates](../ssh-keys.md#certificates-for-people).",
    ),
    "worker_slots": ("Workers", "Set them alike for all workers."),
    "webhook_private_addresses": (
        "Webhooks, e-mail and links",
        "See [e-mail](sign-in.md#e-mail) and [links](network.md#links).",
    ),
    "stripe_secret_key": (
        "Money",
        "See [billing](../billing.md) and [prepaid accounts](../billing/prepaid.md).",
    ),
    "log_format": ("Log", ""),
}
"""The first setting of each section, with the section's title and what is said before its list."""
SECRETS = {
    "site token, access key for V-IPU controllers": "let the site accept the new one, replace the file, then end the"
    " old one. While the file is missing or malformed, the last secret is used",
    "client certificates for V-IPU controllers, [certificate of the API](network.md#tls)": "replace certificate and"
    " key",
    "database passwords": "leave the password out of `IPUCLOUD_DATABASE_URL` and name a libpq password file:"
    " `postgresql://ipucloud_api@db/ipucloud?passfile=/run/secrets/pgpass`. After `ALTER ROLE … PASSWORD`, replace the"
    " file",
    "secrets of identity providers, mail server and Stripe": "replace the file of `client_secret_file`,"
    " `IPUCLOUD_SMTP_PASSWORD_FILE` or `IPUCLOUD_STRIPE_SECRET_KEY_FILE`",
}
END = """
To replace `IPUCLOUD_SECRETS_KEY`, put the new key in front of the old one, with a comma, and restart the processes one
by one. Workers re-encrypt all secrets within an hour. Then restart without the old key.
"""


def page() -> str:
    """The text of the page. Raises ValueError if a section begins with a setting that does not exist."""
    if missing := SECTIONS.keys() - settings().keys():
        raise ValueError(f"no such settings: {', '.join(sorted(missing))}")
    return "\n".join([INTRODUCTION.rstrip("\n"), *_lists(), *_secrets(), END])


def settings() -> Mapping[str, FieldInfo]:
    """What an installation can set."""
    return {name: field for name, field in Settings.model_fields.items() if name not in Constants.model_fields}


def _lists() -> Iterator[str]:
    for name, field in settings().items():
        if name in SECTIONS:
            title, text = SECTIONS[name]
            yield from ("", f"## {title}", "", *([text, ""] if text else []))
        yield f"- {_written(name, field)}: {field.description}"


def _secrets() -> Iterator[str]:
    yield from ("", "## Replace secrets", "")
    yield "You can replace these while everything runs. Write a new file beside the old one, then rename it."
    yield ""
    yield from (f"- {secret}: {how}" for secret, how in SECRETS.items())


def _written(name: str, field: FieldInfo) -> str:
    variable = f"IPUCLOUD_{name.upper()}"
    match field.default:
        case _ if field.default_factory is not None or field.default in (None, ()):
            return f"`{variable}`"
        case frozenset() as words:
            return f"`{variable}={','.join(sorted(words))}`"
        case float() as number:
            return f"`{variable}={number:.0f}`{_in_words(number)}"
        case value:
            return f"`{variable}={value}`"


def _in_words(seconds: float) -> str:
    days, hours = seconds / 86_400, seconds / 3600
    if days > 1 and days.is_integer():
        return f" ({days:.0f} days)"
    return f" ({hours:.0f} hours)" if hours > 1 and hours.is_integer() else ""


if __name__ == "__main__":
    PAGE.write_text(page())
