"""Back-channel logout: a provider says that a person signed out there (OpenID Connect Back-Channel Logout 1.0).

The logout token is the credential: request and answers have the form of that standard, and so are not in the document
of the API. Whatever is wrong is 400, as it says, with a sentence for the log of the provider.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson
import structlog
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ipucloud.api.auditing import audited
from ipucloud.api.bodies import FormRequest
from ipucloud.api.etag import JSON
from ipucloud.api.routing import FoundRoute
from ipucloud.api.services import services_of
from ipucloud.api.trace import trace_of
from ipucloud.config import OidcProvider
from ipucloud.identity.logout_tokens import TokenRefused
from ipucloud.identity.provider_logouts import end_sessions
from ipucloud.kernel.errors import PROVIDER_UNAVAILABLE, Problem, not_found

log = structlog.get_logger(__name__)

PATH = "/oidc/back-channel-logout/{provider}"


class BackChannelRoute(FoundRoute):
    """The route of all providers."""

    permission = None

    def __init__(self) -> None:
        super().__init__(PATH, _answer, methods=["POST"], name="backChannelLogout", include_in_schema=False)
        self.app = self._serve

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await _answer(FormRequest(scope, receive))
        await response(scope, receive, send)


async def _answer(request: FormRequest) -> Response:
    provider = services_of(request).providers.all.get(request.path_params["provider"])
    if provider is None:
        raise not_found()
    async with audited(request, "backChannelLogout", None) as outcome:
        try:
            await request.load(services_of(request).settings.body_limit)
            await _log_out(request, provider, (await request.json() or {}).get("logout_token", ""))
            response = Response(status_code=200)
        except TokenRefused as refused:
            response = _refusal(provider, f"The logout token {refused}.", {})
        except Problem as problem:
            if problem.kind is not PROVIDER_UNAVAILABLE and problem.kind.status >= 500:
                raise
            response = _refusal(provider, problem.detail, problem.headers)
        outcome.status = response.status_code
        return response


async def _log_out(request: FormRequest, provider: OidcProvider, token: str) -> None:
    """Raises `TokenRefused`, and `Problem` provider_unavailable if its keys cannot be read."""
    services = services_of(request)
    logout = await services.providers.logout(provider, token)
    ended = await services.database.transact(lambda connection: end_sessions(connection, logout))
    for session in ended or ():
        trace_of(request).concerns(token_id=session.token_id, project_id=session.project_id)
    log.info("provider_logout", provider=provider.name, sessions=len(ended or ()), repeated=ended is None)


def _refusal(provider: OidcProvider, sentence: str, headers: Mapping[str, str]) -> Response:
    log.warning("provider_logout_refused", provider=provider.name, why=sentence)
    body = orjson.dumps({"error": "invalid_request", "error_description": sentence})
    return Response(body, 400, dict(headers), JSON)


routes: list[Route] = [BackChannelRoute()]
