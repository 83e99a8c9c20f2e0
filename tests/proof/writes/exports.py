"""Writes of exports of the bill, and of where they are delivered."""

from __future__ import annotations

from tests.api.support import key, s3_connection_json
from tests.proof.writes.write import (
    At,
    Cases,
    Setup,
    Where,
    Write,
    created,
    of_account,
    of_project,
    of_project_for_admin,
    sent,
)


def _exports(home: Where, billing: str, of: str) -> Cases:
    """`billing`: the path below at which exports are."""
    bucket = created(home, "/s3-connections", s3_connection_json())

    async def with_bucket(setup: Setup) -> tuple[At, dict[str, object]]:
        """The path of schedules, and the body of one that delivers to a bucket."""
        at = await bucket(setup)
        base, _, connection = at.path.partition("/s3-connections/")
        return At(f"{base}{billing}/export-schedules", at.secret), {"connection": connection}

    async def create_schedule(setup: Setup) -> Write:
        at, body = await with_bucket(setup)
        return Write("POST", at.path, at.secret, body, body | {"every": "month"}, key())

    async def delete_schedule(setup: Setup) -> Write:
        at, body = await with_bucket(setup)
        return Write("DELETE", f"{at.path}/{await setup.id_of(at.path, body, at.secret)}", at.secret)

    return {
        f"create{of}Export": sent(home, "POST", f"{billing}/exports", {"month": "2026-04"}, {"month": "2026-03"}),
        f"create{of}S3Connection": sent(
            home, "POST", "/s3-connections", s3_connection_json(), s3_connection_json("sea")
        ),
        f"update{of}S3Connection": sent(bucket, "PATCH", "", {"region": "eu"}, {"region": "us"}, keyed=False),
        f"test{of}S3Connection": sent(bucket, "POST", ":test"),
        f"delete{of}S3Connection": sent(bucket, "DELETE"),
        f"create{of}ExportSchedule": create_schedule,
        f"delete{of}ExportSchedule": delete_schedule,
    }


LIMITS = {"per_day": 20}, {"per_day": 30}
WRITES: Cases = {
    **_exports(of_account, "", "Account"),
    **_exports(of_project, "/billing", ""),
    "setAccountExportLimit": sent(of_account, "PUT", "/export-limit", *LIMITS),
    "setExportLimit": sent(of_project_for_admin, "PUT", "/billing/export-limit", *LIMITS),
}
