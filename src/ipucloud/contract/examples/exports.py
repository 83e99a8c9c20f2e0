"""What exports, and the S3 connections to which they go, show of their own."""

from __future__ import annotations

from collections.abc import Mapping

from ipucloud.contract.examples.story import ID

EXPORTS: Mapping[str, object] = {
    **dict.fromkeys(
        ("AccountExportCreate.since", "AccountExportCreate.until", "ExportCreate.since", "ExportCreate.until"), None
    ),
    **dict.fromkeys(
        (
            "AccountS3ConnectionCreate.access_key_id",
            "AccountS3ConnectionPatch.access_key_id",
            "S3ConnectionCreate.access_key_id",
            "S3ConnectionOut.access_key_id",
            "S3ConnectionPatch.access_key_id",
        ),
        "AKIAIOSFODNN7EXAMPLE",
    ),
    "AccountS3ConnectionCreate.name": "finance-bucket",
    **dict.fromkeys(
        (
            "AccountS3ConnectionCreate.region",
            "AccountS3ConnectionPatch.region",
            "S3ConnectionCreate.region",
            "S3ConnectionOut.region",
            "S3ConnectionPatch.region",
        ),
        "eu-central-1",
    ),
    "AccountS3ConnectionCreate.secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "AccountS3ConnectionPatch.secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "ExportLimitOf.per_day": 50,
    "ExportLimitOut.next_at": None,
    "ExportLimitOut.per_day": 10,
    "ExportLimitOut.used": 3,
    "ExportOut.built_at": "2026-06-02T00:06:00Z",
    "ExportOut.created_at": "2026-06-02T00:05:00Z",
    "ExportOut.delivered_at": "2026-06-02T00:06:05Z",
    "ExportOut.expires_at": "2026-07-02T00:06:00Z",
    "ExportOut.since": "2026-05-01",
    "ExportOut.state": "succeeded",
    "ExportOut.until": "2026-06-01",
    "ExportOut.version": "1.4",
    "ExportScheduleOut.id": f"{ID}63",
    "ExportScheduleOut.version": "1.4",
    "S3ConnectionCreate.name": "finance-bucket",
    "S3ConnectionCreate.secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "S3ConnectionOut.name": "finance-bucket",
    "S3ConnectionPatch.secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
}
