"""Writes of exports of the bill, and of where they are delivered."""

from __future__ import annotations

from uuid import UUID

from tests.api.support import key, s3_connection_json
from tests.proof.writes.office import Cases, Office, Write


async def create_export(office: Office) -> Write:
    project = await office.project()
    path = f"/v1/projects/{project.slug}/billing/exports"
    return Write("POST", path, project.token.secret, {"month": "2026-04"}, {"month": "2026-03"}, key())


async def _bucket(office: Office) -> tuple[str, str, UUID]:
    """A project's path and token, and its S3 connection."""
    project = await office.project()
    base, secret = f"/v1/projects/{project.slug}", project.token.secret
    return base, secret, await office.id_of(f"{base}/s3-connections", s3_connection_json(), secret)


async def create_s3_connection(office: Office) -> Write:
    project = await office.project()
    path = f"/v1/projects/{project.slug}/s3-connections"
    return Write("POST", path, project.token.secret, s3_connection_json(), s3_connection_json("sea"), key())


async def delete_s3_connection(office: Office) -> Write:
    base, secret, made = await _bucket(office)
    return Write("DELETE", f"{base}/s3-connections/{made}", secret)


async def update_s3_connection(office: Office) -> Write:
    base, secret, made = await _bucket(office)
    return Write("PATCH", f"{base}/s3-connections/{made}", secret, {"region": "eu"}, {"region": "us"})


async def test_s3_connection(office: Office) -> Write:
    base, secret, made = await _bucket(office)
    return Write("POST", f"{base}/s3-connections/{made}:test", secret, headers=key())


async def set_export_limit(office: Office) -> Write:
    project = await office.project()
    path = f"/v1/projects/{project.slug}/billing/export-limit"
    return Write("PUT", path, office.admin.secret, {"per_day": 20}, {"per_day": 30})


async def create_export_schedule(office: Office) -> Write:
    base, secret, made = await _bucket(office)
    body = {"connection": str(made)}
    return Write("POST", f"{base}/billing/export-schedules", secret, body, body | {"every": "month"}, key())


async def delete_export_schedule(office: Office) -> Write:
    base, secret, made = await _bucket(office)
    schedule = await office.id_of(f"{base}/billing/export-schedules", {"connection": str(made)}, secret)
    return Write("DELETE", f"{base}/billing/export-schedules/{schedule}", secret)


async def _account(office: Office) -> str:
    """The path of a project's own billing account."""
    return f"/v1/billing/accounts/{(await office.project()).id}"


async def _account_bucket(office: Office) -> tuple[str, UUID]:
    """The path of a billing account, and its S3 connection."""
    base = await _account(office)
    return base, await office.id_of(f"{base}/s3-connections", s3_connection_json(), office.admin.secret)


async def create_account_export(office: Office) -> Write:
    path = f"{await _account(office)}/exports"
    return Write("POST", path, office.admin.secret, {"month": "2026-04"}, {"month": "2026-03"}, key())


async def set_account_export_limit(office: Office) -> Write:
    path = f"{await _account(office)}/export-limit"
    return Write("PUT", path, office.admin.secret, {"per_day": 20}, {"per_day": 30})


async def create_account_s3_connection(office: Office) -> Write:
    path = f"{await _account(office)}/s3-connections"
    return Write("POST", path, office.admin.secret, s3_connection_json(), s3_connection_json("sea"), key())


async def update_account_s3_connection(office: Office) -> Write:
    base, made = await _account_bucket(office)
    path = f"{base}/s3-connections/{made}"
    return Write("PATCH", path, office.admin.secret, {"region": "eu"}, {"region": "us"})


async def test_account_s3_connection(office: Office) -> Write:
    base, made = await _account_bucket(office)
    return Write("POST", f"{base}/s3-connections/{made}:test", office.admin.secret, headers=key())


async def delete_account_s3_connection(office: Office) -> Write:
    base, made = await _account_bucket(office)
    return Write("DELETE", f"{base}/s3-connections/{made}", office.admin.secret)


async def create_account_export_schedule(office: Office) -> Write:
    base, made = await _account_bucket(office)
    body, path = {"connection": str(made)}, f"{base}/export-schedules"
    return Write("POST", path, office.admin.secret, body, body | {"every": "month"}, key())


async def delete_account_export_schedule(office: Office) -> Write:
    base, made = await _account_bucket(office)
    path = f"{base}/export-schedules"
    schedule = await office.id_of(path, {"connection": str(made)}, office.admin.secret)
    return Write("DELETE", f"{path}/{schedule}", office.admin.secret)


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
