"""A V-IPU controller that lies: it passes calls on to an honest one, and spoils what that answers."""

from __future__ import annotations  # gRPC is generic in its stubs only

import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import grpc
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from ipucloud.laboratory.simulator.tls import Authority
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as user
from tests.support.waiting import PATIENCE

Context: TypeAlias = "grpc.aio.ServicerContext[bytes, bytes]"

TEXTS = (
    "",
    "\x00",
    "a\x00b",
    "x" * 100_000,
    "../../etc/passwd",
    "'; DROP TABLE partitions; --",
    "\u202egnp.exe",
    "\x1b[2J\x07",
    "<script>alert(1)</script>",
    "-1",
    "NaN",
    "é" * 37,
    "::1%eth0",
    "10.5.1.10\n",
)
NUMBERS = (0, 1, 3, 63, 64, 65, 2**31, 2**32 - 1)
STATES = (-1, 0, 99, 2**31 - 1)
MANY = 2_000
SERVICES = (user.DESCRIPTOR.services_by_name["UserService"], admin.DESCRIPTOR.services_by_name["AdminService"])


@dataclass
class HostileController:
    """`spoils`: the share of answers that are not passed on as they are. `answers_given`: how many of each kind of lie.

    `truths`: after so many lies come as many answers that are true; 0 for none. `about`: the package of the
    service that it lies about; empty for all.
    """

    honest: grpc.aio.Channel
    draw: random.Random
    spoils: float = 1.0
    truths: int = 0
    about: str = ""
    answers_given: Counter[str] = field(default_factory=Counter)
    _truths_left: int = 0

    @property
    def spoiled(self) -> int:
        return self.answers_given.total() - self.answers_given["true"]

    async def answer(self, method: MethodDescriptor, request: bytes, context: Context) -> bytes:
        reply = await self._true_answer(method, request, context)
        if self.about not in {"", method.containing_service.file.package}:
            return reply
        if self._truths_left > 0 or self.draw.random() >= self.spoils:
            self._truths_left = max(0, self._truths_left - 1)
            self.answers_given["true"] += 1
            return reply
        how = self.draw.choice(("field", "fields", "field", "fields", "bytes", "cut", "status", "nothing"))
        self.answers_given[how] += 1
        if self.truths and self.spoiled % self.truths == 0:
            self._truths_left = self.truths
        match how:
            case "bytes":
                return self.draw.randbytes(self.draw.choice((1, 7, 300)))
            case "cut":
                return reply[: self.draw.randrange(len(reply) + 1)]
            case "nothing":
                return b""
            case "status":
                details = self.draw.choice(TEXTS)[:2_000].replace("\x00", "?")
                await context.abort(self.draw.choice(list(grpc.StatusCode)[1:]), details)
        message: Message = GetMessageClass(method.output_type).FromString(reply)
        for _ in range(1 if how == "field" else self.draw.randint(2, 6)):
            spoil(message, self.draw)
        return message.SerializeToString()

    async def _true_answer(self, method: MethodDescriptor, request: bytes, context: Context) -> bytes:
        path = f"/{method.containing_service.full_name}/{method.name}"
        call = self.honest.unary_unary(path, request_serializer=None, response_deserializer=None)
        try:
            metadata = [entry for entry in context.invocation_metadata() or () if entry[0].startswith("vipu-")]
            reply: bytes = await call(request, timeout=PATIENCE, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            await context.abort(error.code(), error.details() or "")
        return reply


def spoil(message: Message, draw: random.Random) -> None:
    """Change one field of the message, or of a message in it."""
    fields: Sequence[Any] = message.DESCRIPTOR.fields
    if not fields:
        return
    chosen = draw.choice(fields)
    if chosen.is_repeated:
        _spoil_many(message, chosen, draw)
    elif chosen.type == FieldDescriptor.TYPE_MESSAGE:
        if draw.random() < 0.1:
            message.ClearField(chosen.name)
        else:
            spoil(getattr(message, chosen.name), draw)
    else:
        setattr(message, chosen.name, _value(chosen, draw))


def _spoil_many(message: Message, chosen: FieldDescriptor, draw: random.Random) -> None:
    values: Any = getattr(message, chosen.name)
    if chosen.message_type is not None and chosen.message_type.GetOptions().map_entry:
        if chosen.message_type.fields_by_name["value"].type == FieldDescriptor.TYPE_STRING:
            values[draw.choice(TEXTS)] = draw.choice(TEXTS)
        return
    what = draw.choice(("inside", "inside", "inside", "clear", "twice", "many"))
    if what == "clear" or len(values) == 0:
        message.ClearField(chosen.name)
    elif chosen.type != FieldDescriptor.TYPE_MESSAGE:
        values.append(_value(chosen, draw))
    elif what == "inside":
        spoil(draw.choice(values), draw)
    else:
        values.extend([draw.choice(values)] * (1 if what == "twice" else MANY))


def _value(chosen: FieldDescriptor, draw: random.Random) -> object:
    match chosen.type:
        case FieldDescriptor.TYPE_STRING:
            return draw.choice(TEXTS)
        case FieldDescriptor.TYPE_BOOL:
            return draw.random() < 0.5
        case FieldDescriptor.TYPE_ENUM:
            return draw.choice(STATES)
        case FieldDescriptor.TYPE_INT64:
            return draw.choice((-(2**63), -1, 2**63 - 1))
        case FieldDescriptor.TYPE_INT32:
            return draw.choice((-(2**31), -1, 2**31 - 1))
        case _:
            return draw.choice(NUMBERS)


@asynccontextmanager
async def hostile_controller(
    controllers: Sequence[HostileController], authority: Authority, services: Sequence[ServiceDescriptor] = SERVICES
) -> AsyncIterator[list[int]]:
    """A port for each controller, served while the block lasts, with a certificate of the authority."""
    servers, ports = [], []
    for controller in controllers:
        server = grpc.aio.server()
        server.add_generic_rpc_handlers([_Handler(controller, services)])
        ports.append(server.add_secure_port("127.0.0.1:0", authority.server("127.0.0.1")))
        await server.start()
        servers.append(server)
    try:
        yield ports
    finally:
        for server in servers:
            await server.stop(None)


class _Handler(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # generic in the stubs only
    def __init__(self, controller: HostileController, services: Sequence[ServiceDescriptor]) -> None:
        self._controller = controller
        self._methods = {
            f"/{service.full_name}/{method.name}": method for service in services for method in service.methods
        }

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes] | None:
        method = self._methods.get(details.method)
        if method is None:
            return None

        async def behave(request: bytes, context: Context) -> bytes:
            return await self._controller.answer(method, request, context)

        return grpc.unary_unary_rpc_method_handler(behave)
