"""Writes of webhooks."""

from __future__ import annotations

from tests.proof.writes.write import Cases, Where, created, of_account, of_project, sent

HOOK = {"url": "https://hooks.example.com/"}
KEPT, ENDED = {"keep_previous_seconds": 60}, {"keep_previous_seconds": 0}


def _webhooks(home: Where, of: str) -> Cases:
    webhook = created(home, "/webhooks", HOOK)
    delivery = created(webhook, ":ping", {}, shown="/deliveries")
    return {
        f"create{of}Webhook": sent(home, "POST", "/webhooks", HOOK, HOOK | {"description": "other"}),
        f"update{of}Webhook": sent(webhook, "PATCH", "", {"description": "ours"}, {"description": "theirs"}),
        f"delete{of}Webhook": sent(webhook, "DELETE"),
        f"ping{of}Webhook": sent(webhook, "POST", ":ping"),
        f"rotate{of}WebhookSecret": sent(webhook, "POST", ":rotate-secret", KEPT, ENDED),
        f"redeliver{'To' if of else ''}{of}": sent(delivery, "POST", ":redeliver"),
    }


WRITES: Cases = {**_webhooks(of_project, ""), **_webhooks(of_account, "Account")}
