"""Writes of exports of the bill, and of where they are delivered."""

from __future__ import annotations

from uuid import UUID

from tests.api.support import key, s3_connection_json
from tests.proof.writes.write import Cases, Setup, Write


async def create_export(setup: Setup) -> Write:
    project = await setup.project()
    path = f"/v1/projects/{project.slug}/billing/exports"
    return Write("POST", path, project.token.secret, {"month": "2026-04"}, {"month": "2026-03"}, key())


async def _bucket(setup: Setup) -> tuple[str, str, UUID]:
    """A project's path and token, and its S3 connection."""
    project = await setup.project()
    base, secret = f"/v1/projects/{project.slug}", project.token.secret
    return base, secret, await setup.id_of(f"{base}/s3-connections", s3_connection_json(), secret)


async def create_s3_connection(setup: Setup) -> Write:
    project = await setup.project()
    path = f"/v1/projects/{project.slug}/s3-connections"
    return Write("POST", path, project.token.secret, s3_connection_json(), s3_connection_json("sea"), key())


async def delete_s3_connection(setup: Setup) -> Write:
    base, secret, connection = await _bucket(setup)
    return Write("DELETE", f"{base}/s3-connections/{connection}", secret)


async def update_s3_connection(setup: Setup) -> Write:
    base, secret, connection = await _bucket(setup)
    return Write("PATCH", f"{base}/s3-connections/{connection}", secret, {"region": "eu"}, {"region": "us"})


async def test_s3_connection(setup: Setup) -> Write:
    base, secret, connection = await _bucket(setup)
    return Write("POST", f"{base}/s3-connections/{connection}:test", secret, headers=key())


async def set_export_limit(setup: Setup) -> Write:
    project = await setup.project()
    path = f"/v1/projects/{project.slug}/billing/export-limit"
    return Write("PUT", path, setup.admin.secret, {"per_day": 20}, {"per_day": 30})


async def create_export_schedule(setup: Setup) -> Write:
    base, secret, connection = await _bucket(setup)
    body = {"connection": str(connection)}
    return Write("POST", f"{base}/billing/export-schedules", secret, body, body | {"every": "month"}, key())


async def delete_export_schedule(setup: Setup) -> Write:
    base, secret, connection = await _bucket(setup)
    schedule = await setup.id_of(f"{base}/billing/export-schedules", {"connection": str(connection)}, secret)
    return Write("DELETE", f"{base}/billing/export-schedules/{schedule}", secret)


async def _account(setup: Setup) -> str:
    """The path of a project's own billing account."""
    return f"/v1/billing/accounts/{(await setup.project()).id}"


async def _account_bucket(setup: Setup) -> tuple[str, UUID]:
    """The path of a billing account, and its S3 connection."""
    base = await _account(setup)
    return base, await setup.id_of(f"{base}/s3-connections", s3_connection_json(), setup.admin.secret)


async def create_account_export(setup: Setup) -> Write:
    path = f"{await _account(setup)}/exports"
    return Write("POST", path, setup.admin.secret, {"month": "2026-04"}, {"month": "2026-03"}, key())


async def set_account_export_limit(setup: Setup) -> Write:
    path = f"{await _account(setup)}/export-limit"
    return Write("PUT", path, setup.admin.secret, {"per_day": 20}, {"per_day": 30})


async def create_account_s3_connection(setup: Setup) -> Write:
    path = f"{await _account(setup)}/s3-connections"
    return Write("POST", path, setup.admin.secret, s3_connection_json(), s3_connection_json("sea"), key())


async def update_account_s3_connection(setup: Setup) -> Write:
    base, connection = await _account_bucket(setup)
    path = f"{base}/s3-connections/{connection}"
    return Write("PATCH", path, setup.admin.secret, {"region": "eu"}, {"region": "us"})


async def test_account_s3_connection(setup: Setup) -> Write:
    base, connection = await _account_bucket(setup)
    return Write("POST", f"{base}/s3-connections/{connection}:test", setup.admin.secret, headers=key())


async def delete_account_s3_connection(setup: Setup) -> Write:
    base, connection = await _account_bucket(setup)
    return Write("DELETE", f"{base}/s3-connections/{connection}", setup.admin.secret)


async def create_account_export_schedule(setup: Setup) -> Write:
    base, connection = await _account_bucket(setup)
    body, path = {"connection": str(connection)}, f"{base}/export-schedules"
    return Write("POST", path, setup.admin.secret, body, body | {"every": "month"}, key())


async def delete_account_export_schedule(setup: Setup) -> Write:
    base, connection = await _account_bucket(setup)
    path = f"{base}/export-schedules"
    schedule = await setup.id_of(path, {"connection": str(connection)}, setup.admin.secret)
    return Write("DELETE", f"{path}/{schedule}", setup.admin.secret)


WRITES: Cases = {
    "createAccountExport": create_account_export,
    "setAccountExportLimit": set_account_export_limit,
    "createAccountS3Connection": create_account_s3_connection,
    "updateAccountS3Connection": update_account_s3_connection,
    "testAccountS3Connection": test_account_s3_connection,
    "deleteAccountS3Connection": delete_account_s3_connection,
    "createAccountExportSchedule": create_account_export_schedule,
    "deleteAccountExportSchedule": delete_account_export_schedule,
    "createExport": create_export,
    "setExportLimit": set_export_limit,
    "createS3Connection": create_s3_connection,
    "updateS3Connection": update_s3_connection,
    "testS3Connection": test_s3_connection,
    "deleteS3Connection": delete_s3_connection,
    "createExportSchedule": create_export_schedule,
    "deleteExportSchedule": delete_export_schedule,
}
