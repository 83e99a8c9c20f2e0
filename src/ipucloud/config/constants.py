"""What could be settings and is none: nobody has a reason to change it. A comment says why it is what it is.

Tests and the simulated site of `ipucloud up` have other values. They tell their processes in a variable with a JSON
object, which is for them alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ipucloud.config.values import Seconds

VARIABLE = "IPUCLOUD_CONSTANTS"


class Constants(BaseModel):
    """Durations are seconds."""

    model_config = ConfigDict(frozen=True)

    # A caller that waited so long for a connection is better told to come again.
    database_pool_timeout: Seconds = Field(5.0, description="wait for a connection before a request gets 503")
    # A site answers in a second; shorter than a lease, so that a worker can still write its result.
    site_call_timeout: Seconds = Field(10.0, description="one call to the site; shorter than a lease")
    # Far above what workers need; it keeps a fault in them from flooding a site.
    site_calls_per_second: float = Field(1000.0, gt=0, description="calls of one worker; others wait")
    # What a step waits for at a site takes minutes.
    site_poll_interval: Seconds = Field(5.0, description="how often a step that waits for the site checks again")
    # A reading of a region takes about a second, and a failure should be known within ten.
    observation_interval: Seconds = Field(
        5.0, description="how often a region's hardware is read; every second while something is suspected"
    )
    # A dozen readings in a row were lost.
    observation_expires: Seconds = Field(
        60.0, description="age of the last complete reading at which hardware is `silent`, for customers `unknown`"
    )
    # Two weeks are what people look back at; monitoring keeps more.
    metrics_kept: Seconds = Field(14 * 86_400.0, ge=3600, description="how long metrics of clusters are kept")
    # A console explains the last boot, and nobody asks for that a month later.
    consoles_kept: Seconds = Field(
        30 * 86_400.0, ge=3600, description="how long a boot's console is kept after it was last read"
    )
    # A test takes minutes, so a region of thousands of machines is through in hours.
    validation_limit: int = Field(64, ge=1, description="machines of a region validated at the same time")
    # A test takes five minutes; so much longer means that it hangs.
    validation_deadline: Seconds = Field(1800.0, description="time to test a machine, and again to switch it off")
    # A part of the memory that a process should have.
    unread_limit: int = Field(
        268_435_456,
        ge=1_048_576,
        description="bytes of long answers that clients have not read; beyond it the slowest are broken off",
    )
    # Each costs a process little memory.
    stream_limit: int = Field(1_000, ge=1, description="open event streams")
    # So that ten projects can have all they may.
    streams_per_project: int = Field(100, ge=1, description="open event streams of one project or billing account")
    # Each has an SSH connection.
    terminal_limit: int = Field(200, ge=1, description="open terminals")
    # More than people of a project type at the same time.
    terminals_per_project: int = Field(20, ge=1, description="open terminals of one project, in all processes")
    # As long as people leave a screen alone.
    terminal_idle_seconds: Seconds = Field(900.0, description="a terminal without typing is closed after this")
    # A working day with its breaks.
    terminal_seconds: Seconds = Field(43_200.0, description="how long a terminal may be open")
    # They share one SSH connection.
    service_request_limit: int = Field(32, ge=1, description="requests forwarded to one service at the same time")
    # A batch of images; what is larger goes over SSH.
    service_body_limit: int = Field(67_108_864, ge=1, description="bytes of a body forwarded to a service")
    # As long as balancers usually wait for a program's answer.
    service_timeout: Seconds = Field(
        60.0, description="time for a service's program to begin its answer, and between two parts"
    )
    # As other servers have it.
    header_limit: int = Field(65_536, ge=1024, description="bytes of a request without its body")
    # A header is a packet or two, also over a bad line.
    header_timeout: Seconds = Field(10.0, description="time for a request's header to arrive")
    # The largest body at 70 kbit/s.
    body_timeout: Seconds = Field(30.0, description="time for its body to arrive")
    # Slower clients would hold what others need.
    write_timeout: Seconds = Field(30.0, description="time for a client to read 64 KiB of its answer")
    # Ten times the largest request that makes sense.
    body_limit: int = Field(262_144, ge=1024, description="bytes of a request's body; 16 MiB for an expected inventory")
    # A week, with its days off; an invitation can be renewed.
    invitation_seconds: Seconds = Field(604_800.0, description="how long an invitation can be accepted")
    # Of who asks for no other time; `ssh_certificate_limit` is the operator's.
    ssh_certificate_seconds: int = Field(
        3600, ge=60, le=86_400, description="how long an SSH certificate is valid by default"
    )
    # Three calls to a site; the same for all workers, which would else disagree who holds what.
    lease_seconds: Seconds = Field(30.0, description="length of a lease; the same for all workers")
    # What a lost notification costs.
    poll_seconds: Seconds = Field(1.0, description="how often an idle worker polls for work")
    # What a dead worker's work waits.
    reap_seconds: Seconds = Field(1.0, description="how often a worker frees leases of dead workers")
    # While nothing changes, only other users of a controller change partitions.
    partitions_quiet_interval: Seconds = Field(
        60.0, description="how often a cluster's partitions are checked while nothing changes"
    )
    # A controller makes a partition within seconds.
    partitions_change_interval: Seconds = Field(1.0, description="the same during and after a change")
    # With growing pauses, what passes has passed by then.
    step_attempts: int = Field(5, ge=1, description="failures of one step before its operation is undone")
    # A build takes ten minutes; one of an hour helps nobody.
    create_deadline: Seconds = Field(3600.0, description="an operation that builds is given up after this")
    # A restart of a BMC takes a minute, and its machine is not dead.
    isolation_after: Seconds = Field(
        120.0, description="how long a delete or suspend waits for failed or silent hardware"
    )
    # A machine switches in a minute or two.
    power_limit: Seconds = Field(600.0, description="time for a machine to switch on or off before it has failed")
    # Shorter faults go by themselves.
    repair_after: Seconds = Field(120.0, description="how long a fault lasts before a repair is due")
    # The disk of its Poplar server is lost, which is worth waiting for an operator.
    repair_host_after: Seconds = Field(3600.0, description="the same for a Poplar server's host, whose disk is lost")
    # A week: a customer's training run ends in it, and failed hardware fails further.
    repair_postponement: Seconds = Field(
        7 * 86_400.0, description="how long a repair can be put off after its announcement"
    )
    # Most endpoints answer at once.
    webhook_slots: int = Field(
        8, ge=1, le=10_000, description="webhook endpoints that a worker sends to at the same time"
    )
    # Events come a second after they happened.
    webhook_interval: Seconds = Field(1.0, description="how often the event log is read for webhooks")
    # A mail server greets late when it is busy; shorter than a lease.
    smtp_timeout: Seconds = Field(20.0, description="one e-mail to the server; shorter than a lease")
    # An hour is what is charged together.
    prepaid_hold_minutes: int = Field(
        60, ge=1, le=10_080, description="minutes of a new cluster that prepaid funds must cover"
    )


def constants_of(environment: Mapping[str, str]) -> dict[str, Any]:
    """Those of a test's process, by field."""
    return dict(json.loads(environment.get(VARIABLE, "{}")))


def written(values: Mapping[str, object]) -> dict[str, str]:
    """The variable that makes another process have the constants among these values, by field."""
    others = {name: value for name, value in values.items() if name in Constants.model_fields}
    return {VARIABLE: json.dumps(others)} if others else {}


def former_settings(environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """What is said of variables that were settings in former releases."""
    for name, field in Constants.model_fields.items():
        variable = f"IPUCLOUD_{name.upper()}"
        if variable in environment:
            yield f"{variable} is no setting any more: it is always {field.default:g}. Remove the variable."
