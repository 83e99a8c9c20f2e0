"""Entries of the audit log as other systems take them: CloudEvents 1.0 and syslog (RFC 5424)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

import orjson

_AUDIT_FACILITY = 13
"""RFC 5424, 6.2.1: log audit."""
_ERROR, _WARNING, _NOTICE = 3, 4, 5
_MESSAGE_ID_LENGTH = 32


class Format(StrEnum):
    """Of each line of an export."""

    JSON = "json"
    CLOUDEVENTS = "cloudevents"
    SYSLOG = "syslog"


def cloud_event(document: str) -> str:
    """An event in the JSON format of CloudEvents 1.0; `data` is the entry as in the API."""
    entry = orjson.loads(document)
    event = {
        "specversion": "1.0",
        "id": entry["id"],
        "source": "/v1/operator/audit-log",
        "type": f"ipucloud.audit.{entry['operation']}",
        "time": entry["at"],
        "datacontenttype": "application/json",
        "data": entry,
    }
    if entry["project_id"]:
        event["subject"] = f"projects/{entry['project_id']}"
    return orjson.dumps(event).decode()


def syslog_line(document: str) -> str:
    """A message of RFC 5424 from the facility "log audit", whose text is the entry as in the API."""
    entry = orjson.loads(document)
    priority = 8 * _AUDIT_FACILITY + _severity(entry)
    return f"<{priority}>1 {entry['at']} - ipucloud - {entry['operation'][:_MESSAGE_ID_LENGTH]} - {document}"


def _severity(entry: Mapping[str, object]) -> int:
    """Served: notice. Refused: warning. Failed, or with an unknown outcome: error."""
    match entry["status"]:
        case int(status) if status < 400:  # HTTP
            return _NOTICE
        case int(status) if status < 500:  # HTTP
            return _WARNING
        case _:
            return _ERROR


WRITTEN: Mapping[Format, Callable[[str], str]] = {
    Format.JSON: str,
    Format.CLOUDEVENTS: cloud_event,
    Format.SYSLOG: syslog_line,
}
"""The line of an entry, from its JSON as the database has it."""
