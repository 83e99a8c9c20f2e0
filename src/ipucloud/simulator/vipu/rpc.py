"""The controller's gRPC face: every method of a published service bound to a plain function.

A method settles the controller, acts, and answers when what it tells is on disk. Fault rules apply around all of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from ipucloud.simulator.faults import FaultBook, Plan
from ipucloud.simulator.refusal import Refusal
from ipucloud.simulator.vipu.controller import Controller
from ipucloud.wire.site import FaultAction

Method = Callable[[Message], Message]
Context: TypeAlias = "grpc.aio.ServicerContext[Message, Message]"
Behaviour = Callable[[Message, Context], Awaitable[Message]]


def service_handler(
    service: ServiceDescriptor, prefix: str, methods: object, controller: Controller, faults: FaultBook
) -> grpc.GenericRpcHandler[Message, Message]:
    """A handler of all methods of `service`; `methods` has a function of each name, from request to reply."""
    handlers: dict[str, grpc.RpcMethodHandler[Message, Message]] = {}
    for method in service.methods:
        act: Method = getattr(methods, method.name)
        request, reply = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
        handlers[method.name] = grpc.unary_unary_rpc_method_handler(
            _behaviour(f"{prefix}.{method.name}", act, controller, faults),
            request_deserializer=request.FromString,
            response_serializer=reply.SerializeToString,
        )
    return grpc.method_handlers_generic_handler(service.full_name, handlers)


def _behaviour(call: str, act: Method, controller: Controller, faults: FaultBook) -> Behaviour:
    late: set[asyncio.Task[Message]] = set()

    async def effect(request: Message, latency: float) -> Message:
        await asyncio.sleep(latency)
        controller.settle()
        reply = act(request)
        await controller.document.settled()
        return reply

    async def behave(request: Message, context: Context) -> Message:
        plan = faults.plan(call, target_of(request))
        await _before(plan, context)
        # A caller that gives up cancels this coroutine, never the effect: a slow controller acts all the same.
        task = asyncio.create_task(effect(request, plan.latency))
        late.add(task)
        task.add_done_callback(late.discard)
        try:
            reply = await asyncio.shield(task)
        except Refusal as refusal:
            await context.abort(refusal.reason.grpc_code, refusal.sentence)
        await _after(plan, context)
        return reply

    return behave


async def _before(plan: Plan, context: Context) -> None:
    """What a fault does before the call has any effect."""
    if plan.action is FaultAction.STATUS:
        await asyncio.sleep(plan.latency)
        await _refuse(plan, context)
    if plan.action is FaultAction.STALL:
        # The caller's deadline or its cancellation ends this task; a caller without a deadline waits until we stop.
        await asyncio.Event().wait()


async def _after(plan: Plan, context: Context) -> None:
    """What a fault does between the effect and the answer."""
    if plan.action is FaultAction.STATUS_AFTER:
        await _refuse(plan, context)
    if plan.action is FaultAction.DROP_ANSWER:
        await asyncio.sleep(plan.seconds)
        await context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")


async def _refuse(plan: Plan, context: Context) -> None:
    await context.abort(grpc.StatusCode[plan.grpc_status], f"fault rule {plan.rule}: {plan.grpc_status}")


def target_of(request: Message) -> str:
    """The name of the object that a request is about, empty when it is about none."""
    fields = request.DESCRIPTOR.fields_by_name
    if "requirements" in fields:
        requirements: Message = getattr(request, "requirements")  # noqa: B009
        return target_of(requirements)
    return next((str(getattr(request, f)) for f in ("id", "partition_id", "allocation_id") if f in fields), "")
