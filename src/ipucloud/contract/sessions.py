"""Browser sessions: signing in to the panel."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, secret
from ipucloud.contract.people import Email, Guess
from ipucloud.contract.sign_in import SignInProviderOut
from ipucloud.contract.tokens import WhoamiOut

Name = Annotated[str, Field(min_length=1, max_length=128)]
Secret = Annotated[str, Field(min_length=1, max_length=128, json_schema_extra=secret())]


class SessionCreate(Body):
    """E-mail and password, or a token, or the code of a sign-in link, or what an identity provider returned."""

    token: Secret | None = Field(None, description="The token whose rights the session has.")
    code: Secret | None = Field(None, description="The code of a sign-in link, which it uses up.")
    email: Email | None = Field(None, description="E-mail of the person; with `password`.")
    password: Guess | None = Field(None, description="Password of the person.", examples=["quiet-harbour-42-lamp"])
    authorization_code: Annotated[str, Field(min_length=1, max_length=4096, json_schema_extra=secret())] | None = Field(
        None, description="`code` of the identity provider's answer; with `state`, from the browser that began."
    )
    state: Secret | None = Field(None, description="`state` of the identity provider's answer.")
    project: Name | None = Field(
        None,
        description="Of a person with several memberships, the slug or id of the project, or the id of the billing"
        " account; null: the last one used.",
        examples=["research"],
    )


class SessionOut(WhoamiOut):
    """Who is signed in, with which rights, and for how long."""

    signed_in_at: datetime | None = Field(description="When the session began; null for a request by token.")
    expires_at: datetime | None = Field(
        description="When the session ends at the latest; for a request by token, when that expires."
    )
    idle_until: datetime | None = Field(
        description="When the session ends without another request; null for a request by token."
    )


class NewSessionOut(SessionOut):
    """A session that has begun."""

    path: str | None = Field(
        description="Comes before the path of each request of the session, as in `/s/…/v1/whoami`: browsers send its"
        " cookie only there. Keep it in the storage of the page's origin. Null over TLS: they go to `/v1/…` itself.",
        examples=["/s/8Uq3mZ0dT5yPpX2bC7hK1w"],
    )


class SignedInProviderOut(SignInProviderOut):
    """An identity provider at which a browser is still signed in."""

    sign_out_url: str = Field(
        description="Address of its page where the browser signs out there.",
        examples=["https://sso.example.com/logout?client_id=ipucloud"],
    )


class SessionEndedOut(Answer):
    """A session that has ended."""

    provider: SignedInProviderOut | None = Field(
        description="The provider through which the person had signed in, and where the browser still is signed in;"
        " null: none, or it has no page to sign out."
    )


class SignInLinkOut(Answer):
    """A link that signs one browser in, once."""

    id: UUID
    url: str | None = Field(
        description="Address to open; the code is in its fragment, which no server sees. Null in a replayed response."
    )
    code: str | None = Field(description="The code, shown only once; null in a replayed response.")
    expires_at: datetime
