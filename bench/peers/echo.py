"""The bare peer of the simulated controller: grpc.aio on uvloop, the same messages, and nothing behind them.

`python -m bench.peers.echo FOLDER` says its port and answers every call of the user service at once, from its request
alone, over TLS with a certificate of the authority in the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

import grpc
import uvloop

from ipucloud.laboratory.simulator.tls import Authority
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire import vipu_pb2_grpc as pb_grpc

# ruff: noqa: N802 - gRPC binds methods by the names of the published definition


class Echo(pb_grpc.UserServiceServicer):
    """What a partition's life needs; each answer is as large as the controller's."""

    async def CreatePartition(self, request: pb.CreatePartitionRequest, context: object) -> pb.CreatePartitionReply:
        return pb.CreatePartitionReply(partition_id=request.requirements.id)

    async def GetPartitionStatus(
        self, request: pb.GetPartitionStatusRequest, context: object
    ) -> pb.GetPartitionStatusReply:
        status = pb.PartitionStatus(
            partition_id=request.partition_id,
            ready_state=pb.PS_ACTIVE,
            operation_state=pb.POS_IDLE,
            max_auto_reset_retries=3,
        )
        return pb.GetPartitionStatusReply(status=status)

    async def RemovePartition(self, request: pb.RemovePartitionRequest, context: object) -> pb.RemovePartitionReply:
        return pb.RemovePartitionReply()


async def main() -> None:
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    pb_grpc.add_UserServiceServicer_to_server(Echo(), server)
    folder = Path(sys.argv[1])
    authority = Authority(folder, "echo", folder / "clients", fsync=False)
    (folder / "ca.pem").write_text(authority.certificate)
    print(server.add_secure_port("127.0.0.1:0", authority.server("127.0.0.1")), flush=True)
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    uvloop.run(main())
