"""Writes docs/events.md from the registry of event types.

Run it from anywhere, in the project's environment: python docs/generate_events.py
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ipucloud.contract.event_types.names import REGISTRY, TYPES
from ipucloud.contract.event_types.registry import EventType

PAGE = Path(__file__).with_name("events.md")
NOTICE = "<!-- Written by docs/generate_events.py; do not edit. -->"
TEXT = """
# Events

For developers who react to what happens. Every project has an event log. `GET /v1/projects/{project}/events` and
`ipucloud events list` read it, newest first; [streams](#streams) follow it, oldest first; [webhooks](webhooks.md) send
it.

A type never changes its name or meaning. Types and members of `data` may be added, so ignore unknown ones. A filter
takes types and `<noun>.*`, which includes types added later; an unknown type is refused with suggestions
(`422 validation_failed`, code `unknown_event_type`).
"""
ORIGINS = """
## Who, from where

Every event has these members:

- `actor`: e-mail of the person, or name of the token; null: the service itself
- `address`: IP address of the request, from a [trusted proxy](operations/network.md#behind-a-proxy) if there is one
- `agent`: `User-Agent` of the request, up to 200 characters
- `request_id`: the request, as in its answer and the logs
- `operation_id`: the operation; its event `operation.created` has the actor
- `region`: slug of the subject's region

Each can be null; what a worker does later for an operation has no actor, address or agent. Readers of a project see
`address` and `agent`, which are personal data, for its members and tokens, payers for those of their account, and
operators for all.

## Streams

`GET /v1/projects/{project}/events/stream` sends events in the order of the log, as [server-sent
events](https://html.spec.whatwg.org/multipage/server-sent-events.html). `ipucloud events list --follow` and the
[SDK](sdk.md#events) read it.

```
id: 81234-5120
event: cluster.active
data: {"id": "81234-5120", "type": "cluster.active", "subject_type": "cluster", "subject_id": "…", …}
```

- A stream begins with the next event. To continue after an event, send its id in `Last-Event-ID`, as browsers do, or
  in `?after=`; `?after=0-0` starts with the first. You then miss no event and get none twice.
- A first message of type `gap` means that the log cannot be continued there, for example because the database was
  restored. Read everything again.
- The server sends a comment after 15 seconds of silence. Treat a stream that is silent for 45 seconds as dead.
- A stream ends after an hour or earlier, with `?wait=` after as many seconds (`0`: once it has caught up). Reopen it
  after its last `id`.
- Too many streams get `429 too_many_connections` or `503 unavailable`
  ([limits](operations/settings.md#limits-of-the-api)). A client that does not read is disconnected.
- A proxy must not buffer the answer, and must allow more than 15 seconds of silence.

Events do not replace their object: read the cluster again on `cluster.*`, `partition.*` and `maintenance.*`, and the
operation on `operation.*`. Steps of an operation have no events; poll its `stage`, `progress` and `expected_at`.

## CloudEvents

`…/cloud-events` of a project, a billing account or `/v1/operator` lists the same events in the JSON format of
[CloudEvents 1.0](https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md). So do
`--cloud-events` and `cloud_events()` of the [SDK](sdk.md#events). [Webhooks](webhooks.md#cloudevents) have the
attributes as headers.

```json
{"specversion": "1.0", "id": "81234-5120", "source": "/v1/projects/0199…", "type": "ipucloud.cluster.created",
 "subject": "cluster/0199…", "time": "2026-04-01T10:00:00.000000Z", "datacontenttype": "application/json",
 "actor": "ann@example.com", "address": "192.0.2.7", "agent": "ipucloud/0.1.0", "region": "luxembourg-2",
 "operationid": null, "requestid": "0199…", "data": {"region": "luxembourg-2", "flavor": "m2000-pod16"}}
```

`source` and `id` together identify an event. Filters take `type` without `ipucloud.`.
"""
DATA = f"""
## Events of projects

`ipucloud webhooks event-types` lists the {len(TYPES)} types of a project with meaning and subject.
`GET /v1/event-types`, and `webhooks` in the OpenAPI document, also have the JSON Schema of `data`. Amounts of money are
objects such as `{{"amount": "400.00", "currency": "EUR"}}`. `late` marks an event that an audit appended afterwards.
"""
ACCOUNTS = """
## Events of billing accounts

`GET /v1/billing/accounts/{account}/events` and `ipucloud accounts events ACCOUNT` read what happens to an account's
money, with a token of its payers or of the platform. `…/events/stream` and `--follow` stream it, and [webhooks of the
account](webhooks.md#webhooks-of-a-billing-account) send it. An account gets each event once, however many projects it
pays for. Events of documents about several projects are here only.
"""
OPERATORS = """
## Events for operators

`GET /v1/operator/events` and `ipucloud admin events` read what happens to the platform, with a platform token;
`/v1/operator/events/stream` and `--follow` stream it. No webhook sends it. `region` is null for an event of every
region, and `subject_id` for one about the region itself. `ipucloud admin inventory diff` lists missing hardware and
unexpected firmware, which have no events. `?` marks optional members of `data`.
"""
EVIDENT = re.compile(
    r"active|attached|available|cancell(ed|ing)|closed|confirmed|creat(ed|ing)|declined|delet(ed|ing)|detached|disabled"
    r"|dismissed|failed|granted|invited|issued|joined|opened|overdue|queued|rebuilding|remov(ed|ing)|repaired|resetting"
    r"|resiz(ed|ing)|restarted|resuming|retried|revoked|role_changed|(secret_)?rotated|started|stopped|succeeded"
    r"|suspend(ed|ing)|updated|withdrawn"
)
"""What follows the noun in names of types that need no sentence."""


def page() -> str:
    """The text of the page. Each type is under the heading of the first who read it."""
    kinds = [kind for _, kind in sorted(REGISTRY.items())]
    alone = [kind for kind in kinds if not kind.project and not kind.account]
    sections = [
        ORIGINS,
        DATA,
        _names("Their names explain", (kind for kind in kinds if kind.project and _evident(kind))),
        *_types(kind for kind in kinds if kind.project and not _evident(kind)),
        ACCOUNTS,
        _names("Accounts also have", (kind for kind in kinds if kind.project and kind.account)),
        *_types(kind for kind in kinds if kind.account and not kind.project),
        OPERATORS,
        _names("Operators also read", (kind for kind in kinds if kind.operators and kind not in alone)),
        *_operators(alone),
    ]
    return "\n".join([NOTICE, TEXT, *sections, ""])


def _names(sentence: str, kinds: Iterable[EventType]) -> str:
    """A sentence with the names of types, those of a noun together."""
    nouns: dict[str, list[str]] = {}
    for kind in kinds:
        noun, _, verb = kind.name.partition(".")
        nouns.setdefault(noun, []).append(verb)
    lists = (f"`{noun}.{verbs[0]}`" + "".join(f", `.{verb}`" for verb in verbs[1:]) for noun, verbs in nouns.items())
    return f"{sentence} {'; '.join(lists)}.\n"


def _types(kinds: Iterable[EventType]) -> Iterator[str]:
    yield from (f"- `{kind.name}`: {_when(kind)}" for kind in kinds)


def _evident(kind: EventType) -> bool:
    return EVIDENT.fullmatch(kind.name.partition(".")[2]) is not None


def _operators(kinds: Iterable[EventType]) -> Iterator[str]:
    """With the members of `data`, which nothing else lists."""
    for kind in kinds:
        data = ", ".join(f"`{name}`{'' if required else '?'}" for name, required in _of(kind))
        yield f"- `{kind.name}`: {_when(kind)}" + (f". Data: {data}" if data else "")


def _when(kind: EventType) -> str:
    return kind.meaning.removesuffix(".") + _subject(kind)


def _subject(kind: EventType) -> str:
    if kind.subjects == (kind.name.partition(".")[0],):
        return ""
    return f" (subject: {' or '.join(kind.subjects) or 'any'})"


def _of(kind: EventType) -> Iterator[tuple[str, bool]]:
    """The members of `data`, and whether they are always there."""
    shapes = _shapes(kind)
    for name in dict.fromkeys(name for shape in shapes for name in shape["properties"]):
        yield name, all(name in shape.get("required", ()) for shape in shapes)


def _shapes(kind: EventType) -> list[Mapping[str, Any]]:
    """The schemas of `data`, of which one applies; without a payload none."""
    schema = {} if kind.payload is None else kind.payload.model_json_schema()
    alternatives = schema.get("oneOf", [schema] if schema else [])
    return [schema["$defs"][each["$ref"].rpartition("/")[2]] if "$ref" in each else each for each in alternatives]


if __name__ == "__main__":
    PAGE.write_text(page())
