"""A body for each operation that takes one."""

from __future__ import annotations

from collections.abc import Callable

from tests.api.support import PUBLIC_KEY, cluster_json, price_json, public_key, s3_connection_json
from tests.support.addresses import address_json
from tests.support.people import PASSWORD
from tests.support.reservations import reservation_json
from tests.support.volumes import volume_json

EURO = {"amount": "1.00", "currency": "EUR"}
TAX_RATE: dict[str, object] = {"country": "XK", "rate": "0.18", "source": "a letter"}
CORRECTION: dict[str, object] = {
    "sku": "ipu-m2000",
    "region": "luxembourg-2",
    "unit_price": {"amount": "0.05", "currency": "EUR"},
    "valid_from": "2025-01-01T00:00:00Z",
    "valid_to": "2025-01-02T00:00:00Z",
    "reason": "entered late",
}
BUDGET: dict[str, object] = {"amount": {"amount": "5", "currency": "EUR"}, "thresholds": [{"percent": 50}]}
TOP_UP: dict[str, object] = {"amount": EURO, "below_hours": 4, "month_limit": EURO}
HARDWARE: dict[str, object] = {"machines": ["luxembourg-2-m2000-pod-000-m00"]}
QUOTA_REQUEST: dict[str, object] = {"region": "luxembourg-2", "machine_type": "m2000", "limit": 9000, "reason": "more"}
SERVICE: dict[str, object] = {"command": ["serve"], "image": "example/tools"}
BODIES: dict[str, Callable[[int], dict[str, object]]] = {
    "createProject": lambda number: {"slug": f"made-{number}", "name": "Made"},
    "updateProject": lambda _: {"name": "Renamed"},
    "createToken": lambda number: {"name": f"token-{number}", "role": "viewer"},
    "rotateToken": lambda _: {"keep_previous_seconds": 60},
    "createPlatformToken": lambda number: {"name": f"token-{number}", "role": "support"},
    "updateMember": lambda _: {"role": "operator"},
    "createInvitation": lambda number: {"email": f"new-{number}@example.com", "role": "viewer"},
    "createAccountInvitation": lambda number: {"email": f"new-{number}@example.com"},
    "switchSession": lambda _: {"membership_id": "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b60"},
    **dict.fromkeys(("showDeviceLogin", "approveDeviceLogin", "denyDeviceLogin"), lambda _: {"user_code": "WDJB-MJHT"}),
    "replaceNotifications": lambda _: {"language": "en", "subscriptions": []},
    "changePassword": lambda _: {"current_password": PASSWORD, "new_password": f"{PASSWORD}-2"},
    "signSshKey": lambda number: {"public_key": PUBLIC_KEY, "valid_seconds": 60 + number},
    "createSshKey": lambda number: {"name": f"key-{number}", "public_key": public_key(number)},
    "replaceQuotas": lambda _: {"items": [{"region": "luxembourg-2", "machine_type": "m2000", "limit": 500}]},
    "createQuotaRequest": lambda number: QUOTA_REQUEST | {"limit": 100_000 + number},
    "grantQuotaRequest": lambda number: {"answer": f"answer {number}"},
    "createReservation": lambda number: reservation_json(f"made-{number}"),
    "createAddress": lambda number: address_json(f"made-{number}"),
    "updateAddress": lambda number: {"tags": {"team": f"nlp-{number}"}},
    "createVolume": lambda number: volume_json(f"made-{number}"),
    "updateSnapshot": lambda number: {"tags": {"team": f"nlp-{number}"}},
    "updateVolume": lambda number: {"tags": {"team": f"nlp-{number}"}},
    "resizeVolume": lambda number: {"size_gib": 20 + number},
    "estimateReservation": lambda number: reservation_json(f"made-{number}"),
    "createCluster": lambda number: cluster_json(f"made-{number}"),
    "createBillingAccount": lambda number: {"name": f"Account {number}", "currency": "EUR"},
    "updateBillingAccount": lambda number: {"legal_name": f"Account {number} Ltd"},
    "addPrices": lambda number: {"items": [price_json(f"sku-{number}")]},
    "previewPriceCorrection": lambda _: CORRECTION,
    "correctPrice": lambda _: CORRECTION | {"preview": "0" * 32},
    "createBudget": lambda number: BUDGET | {"name": f"made-{number}"},
    "updateBudget": lambda number: {"name": f"renamed-{number}"},
    "createAccountBudget": lambda number: BUDGET | {"name": f"made-{number}"},
    "updateAccountBudget": lambda number: {"name": f"renamed-{number}"},
    "setPrepaid": lambda _: {"when_empty": "warn"},
    "setTopUp": lambda _: TOP_UP,
    "setPaymentMethod": lambda number: {"customer": f"cus_{number}", "payment_method": f"pm_{number}"},
    "setDunning": lambda _: {"suspend_after": 30},
    "issueCreditNote": lambda number: {"net": "0.01", "reason": f"reason {number}"},
    "topUpWallet": lambda _: {"amount": EURO},
    "grantCredit": lambda _: {"amount": EURO, "reason": "welcome", "expires_at": "2126-01-01T00:00:00Z"},
    "recordPayment": lambda number: {"amount": EURO, "reference": f"payment {number}"},
    "recordRefund": lambda number: {"amount": EURO, "reference": f"refund {number}"},
    "reversePayment": lambda number: {"amount": EURO, "reference": f"refund at Stripe {number}"},
    "updateSeller": lambda number: {"legal_name": f"Seller {number}"},
    "addTaxRate": lambda number: TAX_RATE | {"valid_from": f"{2100 + number}-01-01"},
    "estimateCluster": lambda number: cluster_json(f"made-{number}"),
    "updateCluster": lambda number: {"tags": {"number": str(number)}},
    "rebuildCluster": lambda _: {"disk": "keep"},
    "rescheduleRepair": lambda _: {"starts_at": "2126-01-01T00:00:00Z"},
    "createPartition": lambda number: {"name": f"made-{number}", "size": 4},
    "createJob": lambda number: {"command": ["echo", str(number)], "image": "example/tools"},
    "createService": lambda number: SERVICE | {"name": f"s{number}", "port": 2000 + number},
    "deployService": lambda number: {"command": ["serve", str(number)], "image": "example/tools"},
    "replaceExpectedInventory": lambda number: {"items": [{"kind": "machine", "name": "m0", "serial": f"GC{number}"}]},
    "acceptShownHardware": lambda number: {"everything": True, "reason": f"reason {number}"},
    "startMaintenance": lambda number: HARDWARE | {"reason": f"reason {number}", "urgent": True},
    "returnToService": lambda _: HARDWARE,
    "createSimulatedFault": lambda number: {"kind": "host", "name": f"luxembourg-2-m2000-host-{number % 100:03}"},
    "startFreeze": lambda number: {"reason": f"reason {number}", "expires_at": "2126-01-01T00:00:00Z"},
    "validateHardware": lambda number: {"machines": [f"luxembourg-2-m2000-pod-027-m{number % 16:02}"]},
    "confirmFaultReport": lambda number: {"answer": f"found {number}"},
    **dict.fromkeys(
        ("declineQuotaRequest", "failPayment", "parkWork", "endFreeze", "forceDeleteCluster", "dismissFaultReport"),
        lambda number: {"reason": f"reason {number}"},
    ),
    **dict.fromkeys(
        (
            "rotatePlatformToken",
            "rebootCluster",
            "powerCycleCluster",
            "resetPartition",
            "rotateVipuKey",
            "rotateAccountWebhookSecret",
            "rotateWebhookSecret",
        ),
        lambda _: {},
    ),
    **dict.fromkeys(("createAccountExport", "createExport"), lambda _: {"month": "2026-04"}),
    **dict.fromkeys(("setAccountExportLimit", "setExportLimit"), lambda _: {"per_day": 500}),
    **dict.fromkeys(("updateAccountS3Connection", "updateS3Connection"), lambda number: {"prefix": f"number-{number}"}),
    **dict.fromkeys(
        ("createAccountS3Connection", "createS3Connection"), lambda number: s3_connection_json(f"made-{number}")
    ),
    **dict.fromkeys(("createAccountWebhook", "createWebhook"), lambda _: {"url": "https://hooks.example.com/"}),
    **dict.fromkeys(("updateAccountWebhook", "updateWebhook"), lambda number: {"description": f"number {number}"}),
    **dict.fromkeys(("drainHardware", "quarantineHardware"), lambda number: HARDWARE | {"reason": f"reason {number}"}),
    **dict.fromkeys(("reportMachineFault", "reportServerFault"), lambda number: {"description": f"hangs {number}"}),
    **dict.fromkeys(("resizeCluster", "estimateClusterResize"), lambda _: {"flavor": "m2000-pod8"}),
}
STREAMS = ("streamEvents", "streamAccountEvents", "streamOperatorEvents")
QUERIES = {name: {"wait": "0"} for name in STREAMS} | {"getDefragmentation": {"flavor": "m2000-pod4"}}
"""Queries that an operation needs."""
