"""Identity providers, and the begin of a sign-in through one."""

from __future__ import annotations

from typing import Annotated

import orjson
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.attempts import ANYBODY
from ipucloud.api.credentials import require_same_site
from ipucloud.api.etag import JSON
from ipucloud.api.links import own_url
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.v1.provider_sign_in import set_cookie
from ipucloud.contract.sign_in import ProviderSignInCreate, ProviderSignInOut, SignInProviderList
from ipucloud.identity import federation, invitations
from ipucloud.identity.tokens import Kind, secret_hash
from ipucloud.kernel.errors import (
    CROSS_SITE_REQUEST,
    INVITATION_ENDED,
    NOT_FOUND,
    PROVIDER_UNAVAILABLE,
    not_found,
)

routes = router()

_ALL = "/v1/sign-in-providers"
CALLBACK = "/sign-in/callback"
"""The panel's page to which a provider returns the browser; operators register it at the provider."""
ProviderName = Annotated[str, Field(description="Name of the provider.", max_length=64)]


@routes.get(_ALL, **operation("listSignInProviders", "List the identity providers", None, gives=SignInProviderList))
async def list_providers(request: Request) -> Response:
    """Return the OpenID Connect providers through which people sign in; none if they sign in with passwords."""
    providers = services_of(request).providers.all.values()
    items = [{"name": each.name, "title": each.title} for each in providers]
    return Response(orjson.dumps({"items": items}), media_type=JSON)


@routes.post(
    f"{_ALL}/{{provider}}/sign-ins",
    **operation(
        "beginProviderSignIn",
        "Begin to sign in through an identity provider",
        None,
        gives=ProviderSignInOut,
        status=201,
        description="Begun",
        errors=(CROSS_SITE_REQUEST, NOT_FOUND, INVITATION_ENDED, PROVIDER_UNAVAILABLE),
    ),
)
async def begin_sign_in(request: Request, provider: ProviderName, body: ProviderSignInCreate) -> Response:
    """Return where the browser goes. It comes back to the panel, which sends the answer with `POST /v1/session`.

    For browsers: only the one that began, by its cookie, can finish, once, within ten minutes. Whoever has no account
    needs an invitation, and accepts it by signing in.
    """
    require_same_site(request.scope, browser=False)
    services = services_of(request)
    services.attempts.take(request, ANYBODY)
    chosen = services.providers.all.get(provider)
    if chosen is None:
        raise not_found()
    invited = None
    if body.invitation is not None:
        invited = secret_hash(Kind.INVITATION, body.invitation)
        if invited is None:
            raise not_found()
        invitations.opened(await services.reader.one(invitations.FIND, {"secret_hash": invited}))
    back = f"{own_url(request)}{CALLBACK}"
    state, browser, expires_at = await services.database.transact(
        lambda connection: federation.begin(connection, provider, redirect_uri=back, invitation_hash=invited)
    )
    url = await services.providers.authorization_url(chosen, state=state, browser=browser, redirect_uri=back)
    response = Response(orjson.dumps({"url": url, "expires_at": expires_at}), 201, {"Location": _ALL}, JSON)
    set_cookie(request, response, browser, federation.SIGN_IN_SECONDS)
    return response
