"""`ipucloud webhooks`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.completion import Account, its_webhooks, names
from ipucloud.cli.finding import Kind, id_of, webhook_kind
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import events, webhooks
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Delivery, DeliveryState, Webhook

app = typer.Typer(no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="URL, description or id of the webhook.", autocompletion=names(its_webhooks))]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--event-type",
        help="Such as cluster.* or a type listed by event-types; repeatable.",
        autocompletion=names(Kind("event type", events.types, lambda each: (each.type,))),
    ),
]


@customer_command(app, "create", "https://hooks.example.com/ipucloud --event-type cluster.* --description alerts")
def create(
    session: Session,
    endpoint: Annotated[str, typer.Argument(help="URL: HTTPS, port 443 or 8443.")],
    event_type: Types = None,
    description: Annotated[str, typer.Option(help="Description of the webhook.")] = "",
    account: Account = None,
) -> None:
    """Send events to a URL from now on. The signing secret is shown only once."""
    call = webhooks.create(endpoint, event_types=event_type or (), description=description, account=account)
    _show(session, session.run(call))


@customer_command(app, "event-types", lists=True)
def event_types(session: Session) -> None:
    """List the event types."""
    session.list(
        events.types(),
        ("TYPE", "MEANING", "SUBJECT"),
        lambda each: (each.type, each.meaning, ", ".join(each.subject_types) or "any"),
        drop=("SUBJECT",),
        wrap="MEANING",
    )


@customer_command(app, "list", "", "--account research", "--disabled")
def list_webhooks(
    session: Session,
    *,
    enabled: Annotated[
        bool | None, typer.Option("--enabled/--disabled", help="Only those that are, or only those that are not.")
    ] = None,
    account: Account = None,
) -> None:
    """List the webhooks of the project, or of a billing account, and their status."""
    session.list(
        webhooks.list(enabled=enabled, account=account),
        ("URL", "EVENTS", "STATE", "FAILING SINCE", "ID"),
        lambda each: (each.url, ", ".join(each.event_types) or "all", _state(each), each.failing_since, each.id),
        drop=("ID", "EVENTS", "FAILING SINCE"),
    )


@customer_command(app, "show", "alerts")
def show(session: Session, webhook: Id, account: Account = None) -> None:
    """Show a webhook."""
    _show(session, session.run(webhooks.get(_id(session, webhook, account), account=account)))


@customer_command(app, "update", "alerts --event-type cluster.* --event-type budget.*")
def update(
    session: Session,
    webhook: Id,
    *,
    endpoint: Annotated[str | None, typer.Option(help="New URL.")] = None,
    event_type: Types = None,
    description: Annotated[str | None, typer.Option(help="New description.")] = None,
    account: Account = None,
) -> None:
    """Change a webhook. Its event types are replaced by those given."""
    if (endpoint, event_type, description) == (None, None, None):
        raise UsageError("Give at least one change, such as --event-type cluster.*")
    webhook_id = _id(session, webhook, account)
    call = webhooks.update(webhook_id, url=endpoint, event_types=event_type, description=description, account=account)
    _show(session, session.run(call))


@customer_command(app, "enable", "alerts")
def enable(session: Session, webhook: Id, account: Account = None) -> None:
    """Enable a webhook; only events from now on are sent."""
    _show(session, session.run(webhooks.update(_id(session, webhook, account), enabled=True, account=account)))


@customer_command(app, "disable", "alerts")
def disable(session: Session, webhook: Id, account: Account = None) -> None:
    """Disable a webhook until it is enabled again."""
    _show(session, session.run(webhooks.update(_id(session, webhook, account), enabled=False, account=account)))


@customer_command(app, "delete", "alerts")
def delete(session: Session, webhook: Id, account: Account = None) -> None:
    """Delete a webhook and its deliveries."""
    webhook_id = _id(session, webhook, account)
    session.run(webhooks.delete(webhook_id, account=account))
    session.done("deleted", webhook_id)


@customer_command(app, "ping", "alerts")
def ping(session: Session, webhook: Id, account: Account = None) -> None:
    """Send a test message; `deliveries` shows the result."""
    _show_delivery(session, session.run(webhooks.ping(_id(session, webhook, account), account=account)))


@customer_command(app, "rotate-secret", "alerts")
def rotate_secret(
    session: Session,
    webhook: Id,
    keep: Annotated[int, typer.Option(min=0, help="Seconds for which the old secret also signs.")] = 86_400,
    account: Account = None,
) -> None:
    """Replace the signing secret. The new one is shown only once."""
    webhook_id = _id(session, webhook, account)
    _show(session, session.run(webhooks.rotate_secret(webhook_id, keep_previous_seconds=keep, account=account)))


@customer_command(app, "deliveries", "alerts --state failed", lists=True)
def deliveries(
    session: Session,
    webhook: Id,
    state: Annotated[DeliveryState | None, typer.Option(help="Only those in this state.")] = None,
    account: Account = None,
) -> None:
    """List sent and pending messages."""
    session.list(
        webhooks.deliveries(_id(session, webhook, account), state=state, account=account),
        ("TYPE", "STATE", "TRIES", "LAST", "NEXT", "CREATED", "ID"),
        lambda each: (each.type, each.state, len(each.tries), _last(each), each.next_try_at, each.created_at, each.id),
        drop=("CREATED", "NEXT", "TRIES", "LAST"),
    )


@customer_command(app, "redeliver", "alerts 0196f1d2-8d6f-7c4b-8a51-3a7b6d2e9fa1")
def redeliver(
    session: Session,
    webhook: Id,
    delivery: Annotated[str, typer.Argument(help="Id of the delivery.")],
    account: Account = None,
) -> None:
    """Send a message again with the same id."""
    _show_delivery(session, session.run(webhooks.redeliver(_id(session, webhook, account), delivery, account=account)))


def _id(session: Session, webhook: str, account: str | None) -> str:
    return id_of(session.client, webhook_kind(account), webhook)


def _state(webhook: Webhook) -> str:
    return "enabled" if webhook.enabled else f"disabled: {webhook.disabled}"


def _last(delivery: Delivery) -> str | int | None:
    if not delivery.tries:
        return None
    last = delivery.tries[-1]
    return last.status or last.failure


def _show(session: Session, webhook: Webhook) -> None:
    facts: list[tuple[str, object]] = [("id", webhook.id), ("url", webhook.url), ("state", _state(webhook))]
    facts += [("events", ", ".join(webhook.event_types) or "all"), ("description", webhook.description or None)]
    if webhook.secret is not None:
        facts += [("secret", webhook.secret), ("", "The secret is not shown again.")]
    session.show(webhook, facts)


def _show_delivery(session: Session, delivery: Delivery) -> None:
    facts = [("id", delivery.id), ("message", delivery.message_id), ("state", delivery.state)]
    session.show(delivery, facts)
