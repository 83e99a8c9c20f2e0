"""The registry of error codes, and the one exception that carries them.

A code is permanent: it may get a better sentence, never another meaning or status. The API renders a `Problem` as RFC
9457 `application/problem+json`; workers store the same fields in an operation's `error`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One kind of failure: its stable `code`, HTTP `status`, `title`, and whether a repeat may succeed."""

    code: str
    status: int
    title: str
    retryable: bool = False

    @property
    def page(self) -> str:
        """A problem's `type`: the path, on the same service, of the page that explains the code.

        It is a full path, as RFC 9457 recommends for relative references, so that stored errors outlive a host name.
        """
        return f"/errors/{self.code}"


REGISTRY: dict[str, ErrorCode] = {}
MEDIA_TYPE = "application/problem+json"


def _register(code: str, status: int, title: str, *, retryable: bool = False) -> ErrorCode:
    if code in REGISTRY:
        raise ValueError(f"error code {code} is registered twice")
    REGISTRY[code] = ErrorCode(code, status, title, retryable)
    return REGISTRY[code]


MALFORMED_REQUEST = _register("malformed_request", 400, "The request could not be read")
INVALID_CURSOR = _register("invalid_cursor", 400, "The cursor does not belong to this list")
IDEMPOTENCY_KEY_REQUIRED = _register("idempotency_key_required", 400, "The request needs an Idempotency-Key header")
AUTHORIZATION_PENDING = _register("authorization_pending", 400, "The login was not approved yet", retryable=True)
SLOW_DOWN = _register("slow_down", 400, "The device asks too often", retryable=True)
ACCESS_DENIED = _register("access_denied", 400, "The person denied the login")
EXPIRED_TOKEN = _register("expired_token", 400, "The device code has expired or was used")
UNAUTHENTICATED = _register("unauthenticated", 401, "A valid token is needed")
IDENTITY_REFUSED = _register("identity_refused", 401, "The identity provider's answer is not accepted")
CROSS_SITE_REQUEST = _register("cross_site_request", 403, "The request does not come from this site")
SOURCE_NOT_ALLOWED = _register("source_not_allowed", 403, "This may not be used from this address")
PERMISSION_DENIED = _register("permission_denied", 403, "The token's role does not allow this")
NOT_A_MEMBER = _register("not_a_member", 403, "The person is not a member there")
EMAIL_NOT_VERIFIED = _register("email_not_verified", 403, "The identity provider does not vouch for the e-mail")
NO_ACCOUNT = _register("no_account", 403, "The person has no account")
ACCOUNT_DEACTIVATED = _register("account_deactivated", 403, "The account was deactivated")
NOT_FOUND = _register("not_found", 404, "There is no such object")
METHOD_NOT_ALLOWED = _register("method_not_allowed", 405, "This path does not take that method")
NOT_ACCEPTABLE = _register("not_acceptable", 406, "None of the accepted media types can be given")
NAME_TAKEN = _register("name_taken", 409, "The name is in use")
KEY_EXISTS = _register("key_exists", 409, "The project has this key under another name")
OPERATION_IN_PROGRESS = _register("operation_in_progress", 409, "Another operation runs on the object", retryable=True)
QUOTA_EXCEEDED = _register("quota_exceeded", 409, "The project's quota does not allow this")
CAPACITY_EXHAUSTED = _register("capacity_exhausted", 409, "The region has no room for this now", retryable=True)
CAPACITY_WAIT_EXPIRED = _register(
    "capacity_wait_expired", 409, "No capacity became free before the wait ended", retryable=True
)
BUDGET_REACHED = _register("budget_reached", 409, "A budget refuses this")
COST_LIMIT_REACHED = _register("cost_limit_reached", 409, "The token's cost limit does not allow this")
FUNDS_EXHAUSTED = _register("funds_exhausted", 409, "The account's prepaid funds do not suffice")
PAYMENT_OVERDUE = _register("payment_overdue", 409, "An invoice of the account is overdue")
DELETE_PROTECTED = _register("delete_protected", 409, "The object is protected against deletion")
STATE_CONFLICT = _register("state_conflict", 409, "The object's state does not allow this")
NO_VIPU = _register("no_vipu", 409, "The cluster has no V-IPU controller")
NO_CONTAINERS = _register("no_containers", 409, "The region's servers run no container images")
LAST_ADMINISTRATOR = _register("last_administrator", 409, "The platform would be left without an administrator")
LAST_OWNER = _register("last_owner", 409, "The project would be left without a member who owns it")
ALREADY_MEMBER = _register("already_member", 409, "The person is a member already")
ALREADY_INVITED = _register("already_invited", 409, "The person has an open invitation")
IDENTITY_CONFLICT = _register("identity_conflict", 409, "The account belongs to another identity of the provider")
IN_USE = _register("in_use", 409, "The object is still in use")
IDEMPOTENCY_IN_PROGRESS = _register(
    "idempotency_in_progress", 409, "The first request with this key is still running", retryable=True
)
SIGN_IN_LINK_ENDED = _register("sign_in_link_ended", 410, "The sign-in link was used or has expired")
SIGN_IN_ENDED = _register("sign_in_ended", 410, "The sign-in was finished, has expired, or is of another browser")
INVITATION_ENDED = _register("invitation_ended", 410, "The invitation was accepted, revoked or has expired")
REQUEST_TIMEOUT = _register("request_timeout", 408, "The request did not arrive in time", retryable=True)
PRECONDITION_FAILED = _register("precondition_failed", 412, "The object has changed since it was read")
BODY_TOO_LARGE = _register("body_too_large", 413, "The request body is too large")
UNSUPPORTED_MEDIA_TYPE = _register("unsupported_media_type", 415, "The body must be application/json")
VALIDATION_FAILED = _register("validation_failed", 422, "The request is not valid")
IDEMPOTENCY_KEY_REUSED = _register("idempotency_key_reused", 422, "The key was used for another request")
SSH_KEY_REFUSED = _register("ssh_key_refused", 422, "The SSH key is not accepted")
PRECONDITION_REQUIRED = _register("precondition_required", 428, "The request needs an If-Match header")
RATE_LIMITED = _register("rate_limited", 429, "Too many requests", retryable=True)
TOO_MANY_CONNECTIONS = _register("too_many_connections", 429, "Too many connections", retryable=True)
HEADER_TOO_LARGE = _register("header_too_large", 431, "The request's header is too large")
UPGRADE_UNSUPPORTED = _register("upgrade_unsupported", 400, "This path takes no WebSockets and other upgrades")
INTERNAL_ERROR = _register("internal_error", 500, "Something went wrong on our side", retryable=True)
NOT_CONFIGURED = _register("not_configured", 501, "This installation is not fully set up")
PROVIDER_UNAVAILABLE = _register("provider_unavailable", 503, "The identity provider does not answer", retryable=True)
SERVICE_UNREACHABLE = _register(
    "service_unreachable", 502, "The program of the service gives no answer", retryable=True
)
SERVICE_NOT_RUNNING = _register("service_not_running", 503, "The program of the service does not run", retryable=True)
SERVICE_TIMEOUT = _register("service_timeout", 504, "The program of the service did not answer in time", retryable=True)
UNAVAILABLE = _register("unavailable", 503, "The service is not available for a moment", retryable=True)

# Errors of operations; never the status of a request.
PROVISIONING_FAILED = _register("provisioning_failed", 500, "The cluster could not be built")
SITE_REFUSED = _register("site_refused", 500, "The site refused a step")
PARTITION_REFUSED = _register("partition_refused", 409, "The V-IPU controller does not make such a partition now")
EXPORT_FAILED = _register("export_failed", 500, "The export could not be built or delivered", retryable=True)
PARTITION_FAILED = _register("partition_failed", 500, "The partition could not be created, reset or removed")
DEADLINE_EXCEEDED = _register("deadline_exceeded", 500, "The operation exceeded its deadline")
PREEMPTED = _register("preempted", 409, "A later request pre-empted this operation")


@dataclass(frozen=True, slots=True)
class FieldError:
    """One fault in a body or a query: `pointer` is a JSON pointer (`/name`), or `?name` for a query parameter."""

    pointer: str
    code: str
    detail: str


@dataclass(eq=False)
class Problem(Exception):
    """A refusal that a person can act on.

    `detail` says what to do, in one or two sentences, and never repeats the caller's input; the API names a missing
    object as the request's path does. `extra` adds members to the problem document (`why_not`, `limit`, …),
    `headers` to the response (`Retry-After`).
    """

    kind: ErrorCode
    detail: str
    errors: Sequence[FieldError] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind.code}: {self.detail}"

    def document(self) -> dict[str, object]:
        """The members that do not depend on the request; operations store them as their `error`."""
        body: dict[str, object] = {
            "type": self.kind.page,
            "title": self.kind.title,
            "status": self.kind.status,
            "code": self.kind.code,
            "detail": self.detail,
            "retryable": self.kind.retryable,
        }
        if self.errors:
            body["errors"] = [{"pointer": e.pointer, "code": e.code, "detail": e.detail} for e in self.errors]
        return body | dict(self.extra)


ABSENT = "The object"
"""How `not_found` begins; a response names the object as its request did."""


def not_found() -> Problem:
    """404; the same for an object that never existed, one of another project, and one hidden from this token."""
    return Problem(NOT_FOUND, f"{ABSENT} does not exist, or this token has no access to it.")
