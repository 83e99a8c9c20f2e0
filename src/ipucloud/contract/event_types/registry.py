"""What a type of event is, and how one is registered."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pydantic import BaseModel

from ipucloud.contract.event_payloads import projects


@dataclass(frozen=True, slots=True)
class EventType:
    """One type of event: its stable `name`, its meaning and its subject.

    `subjects` has the possible values of `subject_type`; empty: any. `payload` is the model of `data`; None: `data`
    is empty. `project`: projects have such events. `account`: billing accounts have them, for their payers.
    `operators`: operators read them too; alone if neither projects nor accounts have them.
    """

    name: str
    meaning: str
    subjects: tuple[str, ...]
    payload: type[BaseModel] | None = None
    project: bool = True
    operators: bool = False
    account: bool = False


KNOWN: dict[str, EventType] = {}
"""Complete once `names` was imported."""


def register(
    name: str,
    meaning: str,
    *subjects: str,
    payload: type[BaseModel] | None = None,
    anything: bool = False,
    project: bool = True,
    operators: bool = False,
    account: bool = False,
) -> EventType:
    """The subject is the noun before the dot unless others are named."""
    if name in KNOWN:
        raise ValueError(f"event type {name} is registered twice")
    about = () if anything else subjects or (name.partition(".")[0],)
    KNOWN[name] = EventType(name, meaning, about, payload, project, operators, account)
    return KNOWN[name]


def register_platform(name: str, meaning: str, *subjects: str, payload: type[BaseModel] | None = None) -> EventType:
    """An event of no project, which operators read."""
    return register(name, meaning, *subjects, payload=payload, project=False, operators=True)


def register_money(
    name: str,
    meaning: str,
    *,
    payload: type[BaseModel] | None = None,
    project: bool = True,
    operators: bool = False,
) -> EventType:
    """An event that payers of a billing account read."""
    return register(name, meaning, payload=payload, project=project, account=True, operators=operators)


def register_members(
    name: str, meaning: str, subject: str, payload: type[projects.MemberOf] = projects.MemberOf
) -> EventType:
    """An event about a member of a project or of a billing account."""
    return register(name, meaning, subject, payload=payload, account=True)


def register_states(
    noun: str, meanings: dict[str, str], payload: type[BaseModel], *subjects: str, of_account: Collection[str] = ()
) -> None:
    """`of_account`: the states of which billing accounts have events too."""
    for state, meaning in meanings.items():
        register(f"{noun}.{state}", meaning, *subjects, payload=payload, account=state in of_account)
