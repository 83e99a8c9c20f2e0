"""What events, webhooks, problems and the state of the service show of their own."""

from __future__ import annotations

from collections.abc import Mapping

from ipucloud.contract.examples.story import ACTIVE, COMPOSED, ID

MESSAGES: Mapping[str, object] = {
    "DeliveryOut.created_at": ACTIVE,
    "DeliveryOut.id": f"{ID}62",
    "DeliveryOut.message_id": "msg_0199f2a46c1e7c558f0e0a8a3d1f2b40",
    "DeliveryOut.state": "delivered",
    "EventOut.id": "8812-4711",
    "EventOut.type": "cluster.active",
    "LivenessOut.status": "alive",
    "LivenessOut.version": "0.1.0",
    "Message.data": COMPOSED,
    "Ping.data": COMPOSED,
    "Problem.status": 422,
    "StatusOut.status": "ready",
    "TryOut.status": 204,
    "WebhookOut.id": f"{ID}70",
}
