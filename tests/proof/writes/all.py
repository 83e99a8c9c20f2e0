"""Every write of the API, by its operation id: a request to send, on a project of its own.

The operations are those of the committed document; one without a case fails a test.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.proof.writes import (
    billing,
    budgets,
    clusters,
    exports,
    faults,
    operators,
    people,
    projects,
    safety,
    storage,
    webhooks,
)
from tests.proof.writes.write import Cases, Footprint, Setup, change

DOCUMENT = Path(__file__).parents[3] / "docs" / "openapi.json"
WRITING = frozenset({"post", "put", "patch", "delete"})

WRITES: Cases = {
    operation: case
    for resource in (
        *(projects, people, billing, budgets, exports, clusters, storage, webhooks, operators, safety, faults),
    )
    for operation, case in resource.WRITES.items()
}

REPEATED_WITHOUT_KEY: dict[str, int] = {
    "assignProjectAccount": 200,
    "withdrawPrice": 404,
    "deleteBudget": 404,
    "deleteAccountBudget": 404,
    "setPrepaid": 200,
    "endPrepaid": 404,
    "setDunning": 200,
    "setExportLimit": 200,
    "setAccountExportLimit": 200,
    "endDunning": 404,
    "setTopUp": 200,
    "endTopUp": 404,
    "setPaymentMethod": 200,
    "removePaymentMethod": 404,
    "deleteProject": 404,
    "deleteCluster": 202,
    "deleteVolume": 202,
    "deleteAddress": 202,
    "deleteSnapshot": 202,
    "deleteWebhook": 404,
    "deleteAccountWebhook": 404,
    "removePartition": 202,
    "replaceQuotas": 412,
    "replaceExpectedInventory": 200,
    "deleteExpectedInventory": 404,
    "updateS3Connection": 200,
    "updateAccountS3Connection": 200,
    "deleteS3Connection": 404,
    "deleteAccountS3Connection": 404,
    "deleteExportSchedule": 404,
    "deleteAccountExportSchedule": 404,
    "deleteSshKey": 404,
    "signIn": 410,
    "signOut": 401,
    "revokeInvitation": 204,
    "revokeAccountInvitation": 204,
    "removeMember": 404,
    "removeAccountMember": 404,
    "logOut": 401,
    "switchSession": 200,
    "replaceNotifications": 200,
    "revokeToken": 204,
    "revokePlatformToken": 204,
}
"""What the same request is answered once it took effect, where no key makes it a replay."""


WITH_PASSWORDS = frozenset(
    {
        "logIn",
        "beginProviderSignIn",
        "beginDeviceLogin",
        "fetchDeviceToken",
        "showDeviceLogin",
        "showInvitation",
        "acceptInvitation",
        "changePassword",
    }
)
"""Operations whose attempts are limited, so that they are not sent many times: `tests/api/test_people.py`,
`test_invitations.py`, `test_provider_sign_in.py` and `test_device_logins.py` have them."""


@cache
def documented() -> frozenset[str]:
    """The operation ids of every other write of the document."""
    paths = json.loads(DOCUMENT.read_text())["paths"]
    return frozenset(
        operation["operationId"]
        for methods in paths.values()
        for method, operation in methods.items()
        if method in WRITING and operation["operationId"] not in WITH_PASSWORDS
    )


@dataclass(frozen=True)
class Calm:
    """A write in peace: its answer's status, and what it and its preparation change."""

    status: int
    change: Footprint


async def in_peace(setup: Setup, name: str) -> Calm:
    before = await setup.footprint()
    answer = await (await WRITES[name](setup)).send(setup.client)
    assert answer.is_success, answer.text
    return Calm(answer.status_code, change(before, await setup.footprint()))
