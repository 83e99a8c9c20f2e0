"""A V-IPU controller over gRPC: a method for each call of the published user service, and one of our own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import grpc
from google.protobuf.message import DecodeError, Message

from ipucloud.vipu_cli.endpoint import Endpoint, Security, VipuProblem
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire import vipu_tenant_pb2 as tenant
from ipucloud.wire.vipu_calls import ACCESS_KEY, USER, tls_failure, was_closed

Reply = TypeVar("Reply", bound=Message)

CALL_SECONDS = 30.0
MAX_BYTES = 128 * 1024 * 1024
"""Maximum response size. The attributes of 65,536 IPUs are 32 MB, eight times gRPC's default limit."""

_USER_SERVICE = "virmgrpc.UserService"
_VERSION_SERVICE = "virmgrpc.VersionService"
_TENANT_SERVICE = "ipucloud.vipu.tenant.v1.TenantService"
_CAUSES = {
    grpc.StatusCode.UNAVAILABLE: "the V-IPU controller at {address} is unreachable",
    grpc.StatusCode.DEADLINE_EXCEEDED: "the V-IPU controller at {address} did not respond within {seconds:g} s",
    grpc.StatusCode.UNIMPLEMENTED: "the V-IPU controller at {address} does not support this call",
    grpc.StatusCode.UNAUTHENTICATED: "the V-IPU controller at {address} requires a user and an access key: {details}",
}


class Channels:
    """Open connections: one for each address and what it is secured with."""

    def __init__(self) -> None:
        self._channels: dict[tuple[str, Security], grpc.aio.Channel] = {}

    def to(self, address: str, security: Security) -> grpc.aio.Channel:
        key = address, security
        if key not in self._channels:
            # A controller that returns must be found within a second, not after gRPC's two minutes of backoff.
            options = [
                ("grpc.max_reconnect_backoff_ms", 1000),
                ("grpc.enable_retries", 0),
                ("grpc.max_receive_message_length", MAX_BYTES),
            ]
            if security.plaintext:
                self._channels[key] = grpc.aio.insecure_channel(address, options=options)
            else:
                certificate, private = security.client or (None, None)
                credentials = grpc.ssl_channel_credentials(security.authority, private, certificate)
                self._channels[key] = grpc.aio.secure_channel(address, credentials, options=options)
        return self._channels[key]

    async def close(self) -> None:
        for channel in self._channels.values():
            await channel.close(None)


class Controller:
    """The controller at an endpoint. Every call raises VipuProblem with the cause."""

    def __init__(self, endpoint: Endpoint, channels: Channels, *, call_seconds: float = CALL_SECONDS) -> None:
        self.endpoint = endpoint
        self._channels = channels
        self._seconds = call_seconds

    async def version(self) -> str:
        reply = await self._call(_VERSION_SERVICE, "GetVersion", pb.VersionRequest(), pb.VersionReply)
        return reply.version

    async def partitions(self, allocation: str = "") -> Sequence[pb.Partition]:
        """Every partition visible to the caller, or those of one allocation."""
        request = pb.ListPartitionsRequest(allocation_id=allocation)
        return (await self._call(_USER_SERVICE, "ListPartitions", request, pb.ListPartitionsReply)).partitions

    async def create(self, request: pb.CreatePartitionRequest) -> None:
        await self._call(_USER_SERVICE, "CreatePartition", request, pb.CreatePartitionReply)

    async def remove(self, partition: str, *, force: bool) -> None:
        request = pb.RemovePartitionRequest(partition_id=partition, force=force)
        await self._call(_USER_SERVICE, "RemovePartition", request, pb.RemovePartitionReply)

    async def reset(self, partition: str, *, relocatable: bool) -> None:
        request = pb.ResetPartitionRequest(partition_id=partition, relocatable=relocatable)
        await self._call(_USER_SERVICE, "ResetPartition", request, pb.ResetPartitionReply)

    async def status(self, partition: str) -> pb.PartitionStatus:
        request = pb.GetPartitionStatusRequest(partition_id=partition)
        return (await self._call(_USER_SERVICE, "GetPartitionStatus", request, pb.GetPartitionStatusReply)).status

    async def ipuof_config(self, partition: str, gcd: int | None = None) -> pb.PartitionConfig:
        """The configuration for programs: of one GCD, or of all."""
        request = pb.GetPartitionIpuofConfigRequest(partition_id=partition)
        if gcd is not None:
            request.gcd_id.id = gcd
        reply = await self._call(_USER_SERVICE, "GetPartitionIpuofConfig", request, pb.GetPartitionIpuofConfigReply)
        return reply.ipuof_config

    async def attributes(self, agents: Sequence[str] = ()) -> Sequence[pb.ListIPUAttributesReply.Entry]:
        """Attributes of each IPU of the agents; default: all visible to the caller."""
        request = pb.ListIPUAttributesRequest(agents=agents)
        return (await self._call(_USER_SERVICE, "ListIPUAttributes", request, pb.ListIPUAttributesReply)).entries

    async def allocations(self) -> Sequence[admin.Allocation]:
        """The allocation of the endpoint, from a service of ours: the published user service has no such call."""
        request = tenant.ListAllocationsRequest()
        return (await self._call(_TENANT_SERVICE, "ListAllocations", request, tenant.ListAllocationsReply)).allocations

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        endpoint = self.endpoint
        return ((USER, endpoint.user), (ACCESS_KEY, endpoint.access_key)) if endpoint.user else ()

    async def _call(self, service: str, method: str, request: Message, reply: type[Reply]) -> Reply:
        endpoint = self.endpoint
        call = self._channels.to(endpoint.address, endpoint.security).unary_unary(
            f"/{service}/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=None,
        )
        try:
            return reply.FromString(await call(request, timeout=self._seconds, metadata=self._metadata()))
        except DecodeError as error:
            raise VipuProblem(
                f"the V-IPU controller at {endpoint.address} sent what is no answer to {method}"
            ) from error
        except grpc.aio.AioRpcError as error:
            raise VipuProblem(
                self._cause(endpoint.address, error), missing=error.code() is grpc.StatusCode.NOT_FOUND
            ) from error

    def _cause(self, address: str, error: grpc.aio.AioRpcError) -> str:
        details = error.details() or ""
        insecure = self._insecure(details) if error.code() is grpc.StatusCode.UNAVAILABLE else None
        if insecure is not None:
            return f"no secure connection to the V-IPU controller at {address}: {insecure}"
        return _CAUSES.get(error.code(), "{details}").format(address=address, seconds=self._seconds, details=details)

    def _insecure(self, details: str) -> str | None:
        """What about TLS prevented a call, and which option helps."""
        security = self.endpoint.security
        if security.plaintext:
            return "it takes no plaintext; leave --plaintext out" if was_closed(details) else None
        cause = tls_failure(details)
        if cause is not None:
            return f"{cause} (--api-ca-file names the file with its authority; --plaintext calls it without TLS)"
        if was_closed(details):
            return "it closed the connection; its administration needs a client certificate (--api-client-cert-file)"
        return None
