"""The controller's gRPC face: every method of a published service bound to a plain function.

A method settles the controller, acts, and answers once its answer is on disk. Fault rules apply around all of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, cast

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from ipucloud.laboratory.simulator.faults import CALM, FaultBook, Plan
from ipucloud.laboratory.simulator.refusal import Refusal
from ipucloud.laboratory.simulator.vipu.callers import Caller
from ipucloud.laboratory.simulator.vipu.controller import Controller
from ipucloud.laboratory.simulator.vipu.users import Metadata
from ipucloud.wire.faults import FaultAction, FaultRule

logger = logging.getLogger(__name__)

READS = ("Get", "List")
LONGEST = 1000
"""Characters of a refusal."""
Method = Callable[[Message, Caller], Message]
CallerOf = Callable[[Metadata], Caller]
"""Who makes a call with this metadata. Refuses who may not."""
Context: TypeAlias = "grpc.aio.ServicerContext[Message, Message]"


class Methods(Protocol):
    """The methods of a service of one controller: a function of each name, from request to reply."""

    @property
    def controller(self) -> Controller: ...


def service_handler(
    service: ServiceDescriptor, prefix: str, methods: Methods, faults: FaultBook, caller_of: CallerOf
) -> grpc.GenericRpcHandler[Message, Message]:
    """A handler of all methods of `service`."""
    handlers: dict[str, grpc.RpcMethodHandler[Message, Message]] = {}
    for method in service.methods:
        request, reply = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
        act = getattr(methods, method.name)
        call = Call(f"{prefix}.{method.name}", act, methods.controller, faults, caller_of)
        handlers[method.name] = grpc.unary_unary_rpc_method_handler(
            call.behave, request_deserializer=_reader(request), response_serializer=reply.SerializeToString
        )
    return grpc.method_handlers_generic_handler(service.full_name, handlers)


UNREADABLE = cast("Message", object())
"""In the place of what is no message of the method; gRPC would tell the text of a Python exception."""


def _reader(request: type[Message]) -> Callable[[bytes], Message]:
    def read(sent: bytes) -> Message:
        try:
            return request.FromString(sent)
        except DecodeError:
            return UNREADABLE

    return read


@dataclass(frozen=True)
class Call:
    """One method as gRPC calls it.

    `answered` is what a reading method answered, by metadata and request, while fault rules were in force.
    """

    name: str
    act: Method
    controller: Controller
    faults: FaultBook
    caller_of: CallerOf
    late: set[asyncio.Task[Message]] = field(default_factory=set)
    answered: dict[tuple[object, bytes], Message] = field(default_factory=dict)

    @property
    def reads(self) -> bool:
        return self.name.partition(".")[2].startswith(READS)

    async def behave(self, request: Message, context: Context) -> Message:
        if request is UNREADABLE:
            await context.abort(grpc.StatusCode.INTERNAL, "the request cannot be read as a message of this method")
        plan = self.faults.plan(self.name, target_of(request)) if self.faults else CALM
        try:
            if plan is CALM:
                return await self._effect(request, context)
            return await self._troubled(plan, request, context)
        except Refusal as refusal:
            await context.abort(refusal.reason.grpc_code, _bounded(refusal.sentence))

    async def _effect(self, request: Message, context: Context, plan: Plan = CALM) -> Message:
        """Act, and answer once the state is on disk."""
        caller = self.caller_of(context.invocation_metadata())
        self.controller.advance()
        reply = self.act(request, caller)
        if plan.rule is not None:
            self._spoil(plan.rule, target_of(request), caller)
        if self.controller.document.behind:
            await self.controller.settled()
        return reply

    def _spoil(self, rule: FaultRule, partition: str, caller: Caller) -> None:
        """What a fault does to the operation that the call has started."""
        partitions = self.controller.partitions
        if rule.action is FaultAction.FAIL_PARTITION:
            partitions.spoil(partition, caller, f"fault rule {rule.id}: {rule.error}", rule.failures)
        elif rule.action is FaultAction.HANG_PARTITION:
            partitions.hang(partition, caller)

    async def _troubled(self, plan: Plan, request: Message, context: Context) -> Message:
        await _before(plan, context)
        key = tuple(context.invocation_metadata() or ()), request.SerializeToString(deterministic=True)
        if plan.action is FaultAction.STALE and key in self.answered:
            return self.answered[key]
        # A caller that gives up cancels this coroutine, never the effect: a slow controller acts all the same.
        reply = await asyncio.shield(self._later(plan.latency, request, context, plan))
        if plan.rule is not None and plan.action is FaultAction.DUPLICATE:
            self._later(plan.rule.seconds, request, context)
        if self.reads:
            self.answered[key] = reply
        await _after(plan, context)
        return reply

    def _later(self, seconds: float, request: Message, context: Context, plan: Plan = CALM) -> asyncio.Task[Message]:
        async def effect() -> Message:
            await asyncio.sleep(seconds)
            return await self._effect(request, context, plan)

        def ended(task: asyncio.Task[Message]) -> None:
            self.late.discard(task)
            if not task.cancelled() and not isinstance(task.exception(), Refusal | None):
                logger.error("%s failed after its caller was gone", self.name, exc_info=task.exception())

        task = asyncio.create_task(effect())
        self.late.add(task)
        task.add_done_callback(ended)
        return task


def _bounded(sentence: str) -> str:
    """With names of any length in it, a sentence would not fit into the metadata that carry it."""
    return sentence if len(sentence) <= LONGEST else f"{sentence[: LONGEST - 300]}…{sentence[-300:]}"


async def _before(plan: Plan, context: Context) -> None:
    """What a fault does before the call has any effect."""
    if plan.rule is None:
        return
    if plan.action is FaultAction.STATUS:
        await asyncio.sleep(plan.latency)
        await _refuse(plan.rule, context)
    if plan.action is FaultAction.STALL:
        # The caller's deadline or its cancellation ends this task; a caller without a deadline waits until we stop.
        await asyncio.Event().wait()


async def _after(plan: Plan, context: Context) -> None:
    """What a fault does between the effect and the answer."""
    if plan.rule is None:
        return
    if plan.action is FaultAction.STATUS_AFTER:
        await _refuse(plan.rule, context)
    if plan.action is FaultAction.DROP_ANSWER:
        await asyncio.sleep(plan.rule.seconds)
        await context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")


async def _refuse(rule: FaultRule, context: Context) -> None:
    await context.abort(grpc.StatusCode[rule.grpc_status], f"fault rule {rule.id}: {rule.grpc_status}")


def target_of(request: Message) -> str:
    """The name of the object that a request is about, empty when it is about none."""
    fields = request.DESCRIPTOR.fields_by_name
    if "requirements" in fields:
        requirements: Message = getattr(request, "requirements")  # noqa: B009
        return target_of(requirements)
    return next((str(getattr(request, f)) for f in ("id", "partition_id", "allocation_id") if f in fields), "")
