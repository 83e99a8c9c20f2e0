"""How a Poplar server asks its V-IPU controller: over gRPC, at the address in its environment, like the real tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from ipucloud.wire import vipu_pb2 as pb

DEFAULT_PORT = "8090"
DEFAULT_TIMEOUT = 120.0

Reply = TypeVar("Reply", bound=Message)

_CAUSES = {
    grpc.StatusCode.UNAVAILABLE: "the V-IPU controller at {address} is unreachable",
    grpc.StatusCode.DEADLINE_EXCEEDED: "the V-IPU controller at {address} did not answer within {timeout:g} s",
    grpc.StatusCode.NOT_FOUND: "the V-IPU controller at {address} does not know it: {details}",
    grpc.StatusCode.FAILED_PRECONDITION: "{details}",
}


class VipuProblem(Exception):
    """Why the controller gave no answer; the text names the cause."""


class Channels:
    """Open connections, one for each controller."""

    def __init__(self) -> None:
        self._channels: dict[str, grpc.aio.Channel] = {}

    def to(self, address: str) -> grpc.aio.Channel:
        if address not in self._channels:
            # A controller that comes back shall be found within a second, not after gRPC's two minutes of backoff.
            options = [("grpc.max_reconnect_backoff_ms", 1000), ("grpc.enable_retries", 0)]
            self._channels[address] = grpc.aio.insecure_channel(address, options=options)
        return self._channels[address]

    async def close(self) -> None:
        for channel in self._channels.values():
            await channel.close(None)


class VipuClient:
    """The user service as one login sees it."""

    def __init__(self, channels: Channels, env: Mapping[str, str], *, max_timeout: float = DEFAULT_TIMEOUT):
        self._channels = channels
        self._env = env
        self._max_timeout = max_timeout

    @property
    def partition_id(self) -> str:
        """The partition that the environment names. Raises VipuProblem when it names none."""
        partition = self._env.get("IPUOF_VIPU_API_PARTITION_ID", "")
        if not partition:
            raise VipuProblem("no partition: IPUOF_VIPU_API_PARTITION_ID is not set")
        return partition

    async def config(self) -> pb.PartitionConfig:
        """The configuration of the partition: of the GCD that the environment names, of all when it names none."""
        request = pb.GetPartitionIpuofConfigRequest(partition_id=self.partition_id)
        gcd = self._env.get("IPUOF_VIPU_API_GCD_ID", "")
        if gcd:
            if not gcd.isdigit():
                raise VipuProblem(f"IPUOF_VIPU_API_GCD_ID is {gcd!r}, not a number")
            request.gcd_id.id = int(gcd)
        reply = await self._call("GetPartitionIpuofConfig", request, pb.GetPartitionIpuofConfigReply)
        return reply.ipuof_config

    async def partitions(self) -> list[pb.Partition]:
        """The partitions of this server's own allocation: a server has no business with those of other tenants."""
        everything = await self._list("")
        own = next((p for p in everything if p.id == self.partition_id), None)
        if own is None:
            raise VipuProblem(f"partition {self.partition_id!r} does not exist")
        return [p for p in everything if p.spec.allocation_id == own.spec.allocation_id]

    async def _list(self, allocation_id: str) -> list[pb.Partition]:
        request = pb.ListPartitionsRequest(allocation_id=allocation_id)
        return list((await self._call("ListPartitions", request, pb.ListPartitionsReply)).partitions)

    async def _call(self, method: str, request: Message, reply: type[Reply]) -> Reply:
        host = self._env.get("IPUOF_VIPU_API_HOST", "")
        if not host:
            raise VipuProblem("no V-IPU controller: IPUOF_VIPU_API_HOST is not set")
        address = f"{host}:{self._env.get('IPUOF_VIPU_API_PORT', DEFAULT_PORT)}"
        timeout = self._timeout()
        call = self._channels.to(address).unary_unary(
            f"/virmgrpc.UserService/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=reply.FromString,
        )
        try:
            answer: Reply = await call(request, timeout=timeout)
        except grpc.aio.AioRpcError as error:
            cause = _CAUSES.get(error.code(), "the V-IPU controller at {address} answered: {details}")
            told = cause.format(address=address, timeout=timeout, details=error.details())
            raise VipuProblem(told) from error
        return answer

    def _timeout(self) -> float:
        given = self._env.get("IPUOF_VIPU_API_TIMEOUT", "")
        wanted = float(given) if given.isdigit() and int(given) else DEFAULT_TIMEOUT
        return min(wanted, self._max_timeout)
