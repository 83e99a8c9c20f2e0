"""Writes docs/events.md from the registry of event types.

Run it from anywhere, in the project's environment: python docs/generate_events.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ipucloud.contract.event_types.names import REGISTRY, TYPES
from ipucloud.contract.event_types.registry import EventType

PAGE = Path(__file__).with_name("events.md")
NOTICE = "<!-- Written by docs/generate_events.py; do not edit. -->"
TEXT = f"""
# Events

For developers who react to what happens. Every project has an event log: `GET /v1/projects/{{project}}/events` and
`ipucloud events list` read it, and [webhooks](webhooks.md) send it. `GET /v1/event-types` and
`ipucloud webhooks event-types` list the {len(TYPES)} types below, with a JSON Schema of each type's `data`.

A type never changes its name or meaning. Its `data` may gain members, and types may be added: ignore unknown ones. A
filter or a webhook with an unknown type is refused (`422 validation_failed`, code
`unknown_event_type`) with suggestions. `<noun>.*` in a webhook means all types of a noun, including those
added later.

The registry is `src/ipucloud/contract/event_types/`. Events of unregistered types are not written;
if SQL writes one, the audit finds it (`event_type_is_registered`).
"""
ORIGINS = """
## Who, from where

Every event, in lists, streams and messages, says what caused it:

| member | what |
|---|---|
| `actor` | e-mail of the person, or name of the token; null: the service itself did |
| `address` | IP address that the request came from, or that a [trusted proxy](operations.md#behind-a-proxy) says |
| `agent` | `User-Agent` of the request: at most 200 characters, control characters as `?` |
| `request_id` | the request, as its answer and the logs name it; null: none |
| `region` | slug of the region of the subject, such as a cluster, what is on it, or a volume; null: it has none |

They are written with the event, in the transaction of the change. What a worker does later for the same operation has
no actor, address or agent: `operation_id` leads to the event `operation.created`, which has them. Events from before
these fields were recorded have null for `address` and `agent`, and those of projects and accounts for `region` too.

`address` and `agent` are personal data. They are shown to whoever reads the events of the project or billing account
that the actor is of, and to operators in their own feed. So members of a project see those of its members and tokens;
they see that an operator acted there, but not from where, and payers see those of their account's members and tokens,
never those of its projects. The [audit log](security.md#the-audit-log) has the same two for every request, for
owners.

## CloudEvents

`GET /v1/projects/{project}/cloud-events`, `GET /v1/billing/accounts/{account}/cloud-events` and
`GET /v1/operator/cloud-events` list the same events, with the same order and filters, in the JSON format of
[CloudEvents 1.0](https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md): `items` of an
answer is a batch of them. `ipucloud events list --cloud-events` (`accounts events`, `admin events`) prints one JSON
document each, `events.cloud_events()` of the [SDK](sdk.md#events) reads them, and [messages to
webhooks](webhooks.md#cloudevents) have the attributes as headers.

```json
{"specversion": "1.0", "id": "81234-5120", "source": "/v1/projects/0199…", "type": "ipucloud.cluster.created",
 "subject": "cluster/0199…", "time": "2026-04-01T10:00:00.000000Z", "datacontenttype": "application/json",
 "actor": "ann@example.com", "address": "192.0.2.7", "agent": "ipucloud/0.1.0", "region": "luxembourg-2",
 "operationid": null, "requestid": "0199…", "data": {"region": "luxembourg-2", "flavor": "m2000-pod16"}}
```

`source` and `id` together name an event once and for all. `type` is the event's, after `ipucloud.`; filters take it
without that. `actor`, `address`, `agent`, `region`, `operationid` and `requestid` are extension attributes, and null
means absent.
"""
ACCOUNTS = """
## Events of billing accounts

`GET /v1/billing/accounts/{account}/events` and `ipucloud accounts events ACCOUNT` read what happens to an account's
money, with a token of its payers or of the platform. An account gets each event once, however many projects it pays
for, also of documents of several projects, which no project gets. No webhook sends them. `project.account_changed` is
for the account that is to pay.
"""
STREAMS = """
## Streams

`GET /v1/projects/{project}/events/stream` sends events as they become visible, as [server-sent
events](https://html.spec.whatwg.org/multipage/server-sent-events.html), in the order of the log: `id` is the
event's id, `event` its type, `data` the event as in the list.

```
id: 81234-5120
event: cluster.active
data: {"id": "81234-5120", "type": "cluster.active", "subject_type": "cluster", "subject_id": "…", …}
```

- A stream begins with what happens after it was opened. `Last-Event-ID`, which browsers send by themselves, or
  `?after=` continues after an event; `?after=0-0` begins with the first. The first message has only an `id`, to
  continue after before any event has come. Whoever continues after the last `id` misses no event and gets none
  twice.
- A message of the type `gap` comes first if the log cannot be read on from there, for example because it is another
  project's or the database was restored. Read everything again; the stream goes on from now.
- A comment is sent every 15 seconds of silence: a stream without any for 45 seconds is dead. A stream ends after an
  hour (`?wait=` seconds; with `0` it ends when it has caught up), when its server is restarted, and within 15
  seconds after its token was revoked. Open it again after its last `id`. Browsers do that by themselves, but not
  after a refusal such as `401`, `429` or `503`.
- A project, or a billing account, has at most 100 streams per API process, then `429 too_many_connections`; a process
  has 1,000, then `503 unavailable` (`IPUCLOUD_STREAMS_PER_PROJECT`, `IPUCLOUD_STREAM_LIMIT`). A client that does not
  read is disconnected (`IPUCLOUD_WRITE_TIMEOUT`).
- A proxy must not buffer the answer and must wait longer than 15 seconds for more of it. `X-Accel-Buffering: no`
  tells nginx so; elsewhere switch response buffering off for this path.

Events name their object and operation by id, and what it is now by their type; they are not a copy of the object. A
page that shows objects reads again what an event is about: on `cluster.*`, `partition.*` and `maintenance.*` the
cluster, on `operation.*` the operation, on `budget.*`, `account.*` and `invoice.*` the month's summary. There is no
event for each step of an operation: while one is running, its `stage`, `progress` and `expected_at` are read from
it every few seconds.

`ipucloud events list --follow` and, in the [SDK](sdk.md#events), `client.stream(events.stream())` read a stream.
Billing accounts and operators have streams of the same kind: `GET /v1/billing/accounts/{account}/events/stream`
(`ipucloud accounts events ACCOUNT --follow`, `accounts.stream_events`) and `GET /v1/operator/events/stream`
(`ipucloud admin events --follow`, `operator.stream_events`).
"""
OPERATORS = """
## Events for operators

`GET /v1/operator/events` and `ipucloud admin events` read what happens to the platform, with a platform token. It is
the same log in the same order: events of no project, which no project sees and no webhook sends, and those of projects
that concern operators too. `region` is null for an event of every region; `subject_id` is null for one about the region
itself. The event of a freeze that expires is recorded within seconds; what the freeze held goes on at its `expires_at`.
Hardware that is missing, or has other firmware than expected, does not keep clusters away by that: `ipucloud admin
inventory diff` alone lists it.
"""


def page() -> str:
    """The text of the page."""
    of_projects = [kind for kind in _sorted() if kind.project]
    of_accounts = [kind for kind in _sorted() if kind.account]
    for_operators = [kind for kind in _sorted() if kind.operators]
    sections = [
        *_types(of_projects),
        ORIGINS,
        STREAMS,
        ACCOUNTS,
        *_types(of_accounts),
        OPERATORS,
        *_types(for_operators),
    ]
    return "\n".join([NOTICE, TEXT, *sections, "", *_shapes()])


def _sorted() -> list[EventType]:
    return [kind for _, kind in sorted(REGISTRY.items())]


def _types(kinds: Iterable[EventType]) -> Iterator[str]:
    yield from ("| type | meaning | subject | `data` |", "|---|---|---|---|")
    for kind in kinds:
        yield f"| `{kind.name}` | {kind.meaning} | {', '.join(kind.subjects) or 'any'} | {_link(kind)} |"


def _link(kind: EventType) -> str:
    return "" if kind.payload is None else f"[{kind.payload.__name__}](#{kind.payload.__name__.lower()})"


def _shapes() -> Iterator[str]:
    yield from ("## Data", "", "Members not marked as optional are always present.", "")
    payloads = {kind.payload.__name__: kind.payload for kind in REGISTRY.values() if kind.payload is not None}
    for name, model in sorted(payloads.items()):
        schema = model.model_json_schema()
        yield from (f"### {name}", "", schema["description"], "")
        for alternative in schema.get("oneOf", [schema]):
            yield from ("| member | type | what |", "|---|---|---|")
            yield from (*_members(_resolved(alternative, schema), schema, ""), "")


def _members(shape: Mapping[str, Any], schema: Mapping[str, Any], above: str) -> Iterator[str]:
    for name, member in shape["properties"].items():
        inner = _resolved(member, schema)
        optional = "" if name in shape.get("required", ()) else ", optional"
        yield f"| `{above}{name}` | {_type(inner)}{optional} | {member.get('description', '')} |"
        if "properties" in inner:
            yield from _members(inner, schema, f"{above}{name}.")
        if "$ref" in inner.get("items", ()):
            yield from _members(_resolved(inner["items"], schema), schema, f"{above}{name}[].")


def _resolved(shape: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in shape:
        return shape
    found: Mapping[str, Any] = schema["$defs"][shape["$ref"].rpartition("/")[2]]
    return found


def _type(shape: Mapping[str, Any]) -> str:
    if "anyOf" in shape:
        return " or ".join(_type(each) for each in shape["anyOf"])
    if "const" in shape or "enum" in shape:
        return " or ".join(f"`{value}`" for value in shape.get("enum", [shape.get("const")]))
    if "$ref" in shape:
        return "object"
    if shape["type"] == "array":
        return f"array of {_type(shape['items'])}"
    return str(shape.get("format", shape["type"]))


if __name__ == "__main__":
    PAGE.write_text(page())
