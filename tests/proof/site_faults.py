"""The faults of a call to a site: how each is made, and what the caller must conclude from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ipucloud.wire.faults import FaultAction
from tests.support.faultproxy import CALM, Ending, Fault, Proxy

Conclusion = Literal["answer", "missing", "busy", "unknown", "refused", "made", "not done"]
"""`answer`: as without the fault. `missing`: what the call says of an object the site does not know. `made`: success
for a call that makes something, `unknown` for every other. `not done`: busy or unknown, as it happens."""


@dataclass(frozen=True)
class Rule:
    """A fault rule at the site."""

    action: FaultAction
    status: int = 503
    grpc_status: str = "UNAVAILABLE"
    seconds: float = 0.0


@dataclass(frozen=True)
class SiteFault:
    """`arrives`: how many requests the site sees; `effect`: whether the call takes effect.

    `newcomer`: the fault meets a connection that is being made, not one in use. `all_but`: so many bytes of the answer
    are missing. `short`: nothing ends the call but its own time-out, which is therefore kept short.
    """

    name: str
    http: Conclusion
    grpc: Conclusion
    arrives: int
    effect: bool
    up: Fault = CALM
    down: Fault = CALM
    rule: Rule | None = None
    newcomer: Literal["refused", "reset"] | None = None
    all_but: int | None = None
    short: bool = False

    def apply(self, line: Proxy, answer_bytes: int) -> None:
        line.up = self.up
        line.down = self.down if self.all_but is None else Fault(limit=answer_bytes - self.all_but)
        if self.newcomer == "refused":
            line.close_listener()
        if self.newcomer == "reset":
            line.refuse = True


def _torn(name: str, limit: int, then: Ending, *, short: bool = False) -> SiteFault:
    down = Fault(limit=limit, then=then)
    return SiteFault(name, "unknown", "unknown", arrives=1, effect=True, down=down, short=short)


def _refusal(
    name: str, http_status: int, grpc_status: str, http: Conclusion, grpc: Conclusion, *, after: bool = False
) -> SiteFault:
    action = FaultAction.STATUS_AFTER if after else FaultAction.STATUS
    return SiteFault(name, http, grpc, arrives=1, effect=after, rule=Rule(action, http_status, grpc_status))


FAULTS = (
    SiteFault("calm", "answer", "answer", arrives=1, effect=True),
    # gRPC says UNAVAILABLE whether or not the request left: the safe reading is that it may have.
    SiteFault("refused", "busy", "unknown", arrives=0, effect=False, newcomer="refused"),
    SiteFault("reset_when_connecting", "not done", "unknown", arrives=0, effect=False, newcomer="reset"),
    SiteFault("request_swallowed", "unknown", "unknown", 0, effect=False, up=Fault(blackhole=True), short=True),
    SiteFault("answer_swallowed", "unknown", "unknown", 1, effect=True, down=Fault(blackhole=True), short=True),
    SiteFault(
        "half_open",
        "unknown",
        "unknown",
        arrives=0,
        effect=False,
        up=Fault(blackhole=True),
        down=Fault(blackhole=True),
        short=True,
    ),
    _torn("answer_reset_before_its_first_byte", 0, Ending.RESET),
    _torn("answer_closed_before_its_first_byte", 0, Ending.CLOSE),
    _torn("answer_torn_after_1_byte", 1, Ending.RESET),
    _torn("answer_torn_after_10_bytes", 10, Ending.RESET),
    _torn("answer_closed_after_10_bytes", 10, Ending.CLOSE),
    _torn("answer_stops_after_10_bytes", 10, Ending.HANG, short=True),
    SiteFault("answer_torn_just_before_its_end", "unknown", "unknown", 1, effect=True, all_but=4),
    SiteFault("request_torn_after_10_bytes", "unknown", "unknown", 0, effect=False, up=Fault(limit=10)),
    SiteFault("drip", "unknown", "unknown", 1, effect=True, down=Fault(rate=2.0), short=True),
    SiteFault("slow_line", "answer", "answer", 1, effect=True, down=Fault(latency=0.05)),
    _refusal("unavailable_before", 503, "UNAVAILABLE", "unknown", "unknown"),
    _refusal("internal_before", 500, "INTERNAL", "unknown", "unknown"),
    _refusal("bad_gateway_before", 502, "UNKNOWN", "unknown", "unknown"),
    _refusal("unavailable_after", 503, "UNAVAILABLE", "unknown", "unknown", after=True),
    _refusal("internal_after", 500, "INTERNAL", "unknown", "unknown", after=True),
    _refusal("deadline_after", 504, "DEADLINE_EXCEEDED", "unknown", "unknown", after=True),
    _refusal("exhausted", 429, "RESOURCE_EXHAUSTED", "busy", "busy"),
    _refusal("invalid", 422, "INVALID_ARGUMENT", "refused", "refused"),
    _refusal("precondition", 412, "FAILED_PRECONDITION", "refused", "refused"),
    _refusal("permission_denied", 403, "PERMISSION_DENIED", "refused", "refused"),
    _refusal("unauthenticated", 401, "UNAUTHENTICATED", "refused", "refused"),
    _refusal("already_exists", 409, "ALREADY_EXISTS", "busy", "made"),
    _refusal("not_found", 404, "NOT_FOUND", "missing", "missing"),
    SiteFault("stall", "unknown", "unknown", 1, effect=False, rule=Rule(FaultAction.STALL), short=True),
    SiteFault("drop_answer", "unknown", "unknown", 1, effect=True, rule=Rule(FaultAction.DROP_ANSWER)),
)
