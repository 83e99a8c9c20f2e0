"""The load on a V-IPU controller: a fixed number of callers, each making, polling and removing one partition after
another.

`python -m bench.processes.partition_load` takes one JSON order per line and answers each with one JSON line. An order:
`port`, `authority`, `callers`, `seconds`, `allocation`, and `turn`, which keeps the names of two orders apart.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import grpc
import uvloop

from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire import vipu_pb2_grpc as pb_grpc

CALL_SECONDS = 30.0
IPUS = 2


async def live(stub: pb_grpc.UserServiceStub, name: str, allocation: str) -> int:
    """One partition from its creation to its removal; answers how often it was polled."""
    requirements = pb.PartitionRequirements(id=name, size=IPUS, allocation_id=allocation)
    await stub.CreatePartition(pb.CreatePartitionRequest(requirements=requirements), timeout=CALL_SECONDS)
    polls, ready = 0, pb.PS_PENDING
    while ready == pb.PS_PENDING:
        reply = await stub.GetPartitionStatus(pb.GetPartitionStatusRequest(partition_id=name), timeout=CALL_SECONDS)
        polls, ready = polls + 1, reply.status.ready_state
    if ready != pb.PS_ACTIVE:
        raise ValueError(f"{name} did not become active")
    await stub.RemovePartition(pb.RemovePartitionRequest(partition_id=name, force=True), timeout=CALL_SECONDS)
    return polls


async def carry_out(order: dict[str, Any]) -> dict[str, float]:
    lives, polls = 0, 0
    started, busy = time.perf_counter(), time.process_time()
    until = started + order["seconds"]

    async def call(caller: int) -> None:
        nonlocal lives, polls
        while time.perf_counter() < until:
            polled = await live(stub, f"b{order['turn']}-{caller}-{lives}", order["allocation"])
            polls, lives = polls + polled, lives + 1

    credentials = grpc.ssl_channel_credentials(order["authority"].encode())
    async with grpc.aio.secure_channel(f"127.0.0.1:{order['port']}", credentials) as channel:
        stub = pb_grpc.UserServiceStub(channel)
        await asyncio.gather(*(call(caller) for caller in range(order["callers"])))
    elapsed = time.perf_counter() - started
    return {"rate": lives / elapsed, "polls": polls / lives, "busy": (time.process_time() - busy) / elapsed}


async def main() -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await carry_out(json.loads(line))), flush=True)


if __name__ == "__main__":
    uvloop.run(main())
