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
LATE = "late"
"""A member of `data` that the page describes once."""
FEW = 2
"""With more members of `data` than these, a row refers to the first of its noun that has the same."""
TEXT = f"""
# Events

For developers who react to what happens. Every project has an event log. `GET /v1/projects/{{project}}/events` and
`ipucloud events list` read it, [streams](#streams) follow it, and [webhooks](webhooks.md) send it.
`GET /v1/event-types` and `ipucloud webhooks event-types` list the {len(TYPES)} types of a project.

A type never changes its name or meaning. Types and members of `data` may be added, so ignore unknown ones. A filter or
a webhook with an unknown type is refused with suggestions (`422 validation_failed`, code `unknown_event_type`).
`<noun>.*` means all types of a noun, including later ones.
"""
ORIGINS = """
## Who, from where

| member of every event | what |
|---|---|
| `actor` | e-mail of the person, or name of the token; null: the service itself |
| `address` | IP address of the request, from a [trusted proxy](operations/network.md#behind-a-proxy) if there is one |
| `agent` | `User-Agent` of the request, up to 200 characters |
| `request_id` | the request, as its answer and the logs name it |
| `operation_id` | the operation; its event `operation.created` has the actor |
| `region` | slug of the subject's region |

Each can be null. What a worker does later for an operation has no actor, address or agent. Events from before these
members were recorded have no `address` and `agent`, and those of projects and accounts no `region`.

`address` and `agent` are personal data. Readers of a project see those of its members and tokens. They see that an
operator acted, but not from where. Payers see those of their account's members and tokens, not those of its projects.
Operators see all in their own feed. The [audit log](security.md#the-audit-log) has both for every request, for owners.

## Streams

`GET /v1/projects/{project}/events/stream` sends events as they become visible, as [server-sent
events](https://html.spec.whatwg.org/multipage/server-sent-events.html), in the order of the log. `ipucloud events list
--follow` and, in the [SDK](sdk.md#events), `client.stream(events.stream())` read it.

```
id: 81234-5120
event: cluster.active
data: {"id": "81234-5120", "type": "cluster.active", "subject_type": "cluster", "subject_id": "…", …}
```

- A stream begins with what happens after it was opened. `Last-Event-ID`, which browsers send, or `?after=` continues
  after an event, `?after=0-0` from the first. A client that continues after the last `id` misses no event and gets
  none twice. The first message has only an `id` to continue after.
- A message of the type `gap` comes first if the log cannot be continued there, for example because the database was
  restored. Read everything again; the stream continues from now.
- A comment is sent after 15 seconds of silence. A stream without any for 45 seconds is dead.
- A stream ends after an hour (`?wait=` seconds; `0`: when it has caught up), when its server restarts, and within 15
  seconds after its token was revoked. Open it again after its last `id`. Browsers do, except after a refusal.
- A project or account has at most 100 streams per API process (`429 too_many_connections`,
  `IPUCLOUD_STREAMS_PER_PROJECT`), a process 1,000 (`503 unavailable`, `IPUCLOUD_STREAM_LIMIT`). A client that does
  not read is disconnected (`IPUCLOUD_WRITE_TIMEOUT`).
- A proxy must not buffer the answer, and must wait longer than 15 seconds for more of it. `X-Accel-Buffering: no`
  tells nginx.

Events are not a copy of their object. A page that shows objects reads them again: on `cluster.*`, `partition.*` and
`maintenance.*` the cluster, on `operation.*` the operation, on `budget.*`, `account.*` and `invoice.*` the month's
summary. The steps of an operation have no events: poll its `stage`, `progress` and `expected_at` while it runs.

## CloudEvents

`…/cloud-events` of a project, a billing account or `/v1/operator` lists the same events, with the same filters, in
the JSON format of
[CloudEvents 1.0](https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md). So do
`--cloud-events` of the commands that list events and `cloud_events()` of the [SDK](sdk.md#events).
[Messages to webhooks](webhooks.md#cloudevents) have the attributes as headers.

```json
{"specversion": "1.0", "id": "81234-5120", "source": "/v1/projects/0199…", "type": "ipucloud.cluster.created",
 "subject": "cluster/0199…", "time": "2026-04-01T10:00:00.000000Z", "datacontenttype": "application/json",
 "actor": "ann@example.com", "address": "192.0.2.7", "agent": "ipucloud/0.1.0", "region": "luxembourg-2",
 "operationid": null, "requestid": "0199…", "data": {"region": "luxembourg-2", "flavor": "m2000-pod16"}}
```

`source` and `id` together identify an event. Filters take `type` without `ipucloud.`. Null means absent.
"""
DATA = """
## Data

The tables below list the members of `data`; `?` marks one that can be absent. The JSON Schema of each type, with the
meaning of every member, is under `webhooks` in the OpenAPI document, and for types of projects also in
`GET /v1/event-types`. The subject is the noun of the type, unless the table names another.

- `name` and `region` are the name of the subject and the slug of its region. `cluster` is an id, `poplar_server` a
  name.
- `reason` says why: for people, or for some types as a code.
- Amounts of money are objects such as `{"amount": "400.00", "currency": "EUR"}`.
- `late` in the `data` of a cluster or operation: an audit appended the event afterwards. The tables leave it out.

## Events of projects
"""
ACCOUNTS = """
## Events of billing accounts

`GET /v1/billing/accounts/{account}/events` and `ipucloud accounts events ACCOUNT` read what happens to an account's
money, with a token of its payers or of the platform. `…/events/stream` and `--follow` stream it, and [webhooks of the
account](webhooks.md#webhooks-of-a-billing-account) send it. An account gets each event once, however many projects it
pays for, also of documents of several projects, which no project gets. `project.account_changed` is for the account
that is to pay.
"""
OPERATORS = """
## Events for operators

`GET /v1/operator/events` and `ipucloud admin events` read what happens to the platform, with a platform token;
`/v1/operator/events/stream` and `--follow` stream it. No webhook sends it. `region` is null for an event of every
region, and `subject_id` for one about the region itself. What a freeze held continues at its `expires_at`, and its
event is recorded within seconds. Hardware that is missing or has unexpected firmware has no event: `ipucloud admin
inventory diff` lists it.
"""


def page() -> str:
    """The text of the page. Each type is in one table, that of the first who read it."""
    kinds = [kind for _, kind in sorted(REGISTRY.items())]
    alone = [kind for kind in kinds if not kind.project and not kind.account]
    sections = [
        ORIGINS,
        DATA,
        *_types(kind for kind in kinds if kind.project),
        ACCOUNTS,
        _names("Accounts also have", (kind for kind in kinds if kind.project and kind.account)),
        *_types(kind for kind in kinds if kind.account and not kind.project),
        OPERATORS,
        _names("Operators also read", (kind for kind in kinds if kind.operators and kind not in alone)),
        *_types(alone),
        "",
        *_members(alone),
    ]
    return "\n".join([NOTICE, TEXT, *sections, ""])


def _names(sentence: str, kinds: Iterable[EventType]) -> str:
    """A sentence with the types, those of a noun together."""
    nouns: dict[str, list[str]] = {}
    for kind in kinds:
        noun, _, verb = kind.name.partition(".")
        nouns.setdefault(noun, []).append(verb)
    lists = (f"`{noun}.{verbs[0]}`" + "".join(f", `.{verb}`" for verb in verbs[1:]) for noun, verbs in nouns.items())
    return f"{sentence} {'; '.join(lists)}.\n"


def _types(kinds: Iterable[EventType]) -> Iterator[str]:
    yield from ("| type | when | `data` |", "|---|---|---|")
    listed: dict[tuple[str, str], str] = {}
    for kind in kinds:
        data = ", ".join(f"`{name}`{'' if required else '?'}" for name, required in _of(kind) if name != LATE)
        first = listed.setdefault((kind.name.partition(".")[0], data), kind.name)
        same = first != kind.name and len(data.split()) > FEW
        when = kind.meaning.removesuffix(".") + _subject(kind)
        yield f"| `{kind.name}` | {when} | {f'as `{first}`' if same else data} |"


def _subject(kind: EventType) -> str:
    if kind.subjects == (kind.name.partition(".")[0],):
        return ""
    return f" (subject: {' or '.join(kind.subjects) or 'any'})"


def _of(kind: EventType) -> Iterator[tuple[str, bool]]:
    """The members of `data`, and whether they are always there."""
    shapes = _shapes(kind)
    for name in dict.fromkeys(name for shape in shapes for name in shape["properties"]):
        yield name, all(name in shape.get("required", ()) for shape in shapes)


def _members(kinds: Iterable[EventType]) -> Iterator[str]:
    """What the members mean of types that the OpenAPI document does not have."""
    yield from ("| member of `data` | what |", "|---|---|")
    meanings: dict[str, dict[str, None]] = {}
    for shape in (shape for kind in kinds for shape in _shapes(kind)):
        for name, member in shape["properties"].items():
            meanings.setdefault(name, {})[member["description"].removesuffix(".")] = None
    for name, texts in sorted(meanings.items()):
        yield f"| `{name}` | {'; '.join(texts)} |"


def _shapes(kind: EventType) -> list[Mapping[str, Any]]:
    """The schemas of `data`, of which one applies; without a payload none."""
    schema = {} if kind.payload is None else kind.payload.model_json_schema()
    alternatives = schema.get("oneOf", [schema] if schema else [])
    return [schema["$defs"][each["$ref"].rpartition("/")[2]] if "$ref" in each else each for each in alternatives]


if __name__ == "__main__":
    PAGE.write_text(page())
