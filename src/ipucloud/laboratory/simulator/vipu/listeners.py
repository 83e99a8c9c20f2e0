"""What a controller listens with: the services of each endpoint, who may call them, and how they are secured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import grpc
from google.protobuf.message import Message

from ipucloud.laboratory.simulator.faults import FaultBook
from ipucloud.laboratory.simulator.settings import Settings
from ipucloud.laboratory.simulator.tls import Authority
from ipucloud.laboratory.simulator.vipu.admin import AdminMethods
from ipucloud.laboratory.simulator.vipu.callers import EVERYBODY, Caller
from ipucloud.laboratory.simulator.vipu.controller import Controller
from ipucloud.laboratory.simulator.vipu.rpc import service_handler
from ipucloud.laboratory.simulator.vipu.services import TenantMethods, UserMethods, VersionMethods
from ipucloud.laboratory.simulator.vipu.users import Metadata
from ipucloud.wire import vipu_admin_pb2, vipu_pb2, vipu_tenant_pb2

_USER, _VERSION = (vipu_pb2.DESCRIPTOR.services_by_name[name] for name in ("UserService", "VersionService"))
_ADMIN = vipu_admin_pb2.DESCRIPTOR.services_by_name["AdminService"]
_TENANT = vipu_tenant_pb2.DESCRIPTOR.services_by_name["TenantService"]
_OPTIONS = [
    # gRPC shares ports between processes unless told not to; two sites on one port would answer by turns.
    ("grpc.so_reuseport", 0),
    # Clients may probe an idle connection every few seconds; by default gRPC would hang up on them.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 1000),
    ("grpc.http2.max_ping_strikes", 0),
]

Handlers: TypeAlias = "list[grpc.GenericRpcHandler[Message, Message]]"


@dataclass(frozen=True)
class Listeners:
    """Listens for one controller. `authority` None: in plaintext."""

    controller: Controller
    faults: FaultBook
    authority: Authority | None
    settings: Settings

    async def administration(self, port: int) -> grpc.aio.Server:
        """The administration endpoint, which answers. Raises OSError when the port is not free."""
        administrator = self._administrator
        handlers = [
            service_handler(_ADMIN, "admin", AdminMethods(self.controller), self.faults, administrator),
            service_handler(_USER, "vipu", UserMethods(self.controller), self.faults, administrator),
            service_handler(_VERSION, "vipu", VersionMethods(self.controller), self.faults, administrator),
        ]
        server = self._server(handlers, port, mutual=True)
        await server.start()
        return server

    def tenant(self, allocation: str, port: int) -> grpc.aio.Server:
        """The user endpoint of an allocation, which has its port, and answers once it is started.

        Raises OSError when the port is not free.
        """
        user = partial(self._user_of, allocation)
        handlers = [
            service_handler(_TENANT, "vipu", TenantMethods(self.controller), self.faults, user),
            service_handler(_USER, "vipu", UserMethods(self.controller), self.faults, user),
            service_handler(_VERSION, "vipu", VersionMethods(self.controller), self.faults, lambda _: EVERYBODY),
        ]
        return self._server(handlers, port, mutual=False)

    # A controller that forgets has other users than before.

    def _administrator(self, metadata: Metadata) -> Caller:
        return self.controller.users.administrator(metadata)

    def _user_of(self, allocation: str, metadata: Metadata) -> Caller:
        return self.controller.users.tenant(metadata, allocation)

    def _server(self, handlers: Handlers, port: int, *, mutual: bool) -> grpc.aio.Server:
        server = grpc.aio.server(options=_OPTIONS)
        server.add_generic_rpc_handlers(handlers)
        address = f"{self.settings.bind}:{port}"
        # A listener that could not be opened has used its credentials up: each attempt gets its own.
        credentials = self._credentials(mutual=mutual)
        try:
            if credentials is None:
                server.add_insecure_port(address)
            else:
                server.add_secure_port(address, credentials)
        except RuntimeError as error:
            raise OSError(str(error)) from error
        return server

    def _credentials(self, *, mutual: bool) -> grpc.ServerCredentials | None:
        hosts = dict.fromkeys((self.settings.advertised_address, self.settings.bind))
        return None if self.authority is None else self.authority.server(*hosts, mutual=mutual)
