"""Signing in through identity providers, and logins that a person approves in a browser."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, secret
from ipucloud.contract.people import InvitationSecret
from ipucloud.contract.tokens import TokenName

DeviceCode = Annotated[str, Field(min_length=1, max_length=128, examples=["ipd_…"], json_schema_extra=secret())]
UserCode = Annotated[str, Field(min_length=8, max_length=32, examples=["WDJB-MJHT"])]


class SignInProviderOut(Answer):
    """An OpenID Connect provider through which people sign in."""

    name: str = Field(description="Its name in requests.", examples=["example"])
    title: str = Field(description="Its name for people.", examples=["Example Sign-On"])


class SignInProviderList(Answer):
    """The installation's providers, in the order of its settings."""

    items: list[SignInProviderOut] = Field(description="None: people sign in with passwords.")


class ProviderSignInCreate(Body):
    """What the sign-in is for."""

    invitation: InvitationSecret | None = Field(
        None, description="Secret of an invitation that the person accepts by signing in; null: none."
    )


class ProviderSignInOut(Answer):
    """Where the browser goes to sign in."""

    url: str = Field(
        description="Address of the provider's page.", examples=["https://sso.example.com/authorize?state=ipt_…"]
    )
    expires_at: datetime = Field(description="By when the browser must be back.")


class DeviceLoginCreate(Body):
    """A device that asks for a token of a person."""

    name: TokenName = Field("command line", description="Name of the token, such as that of the computer.")
    project: str | None = Field(
        None,
        min_length=1,
        max_length=128,
        description="Slug or id of the project, or id of the billing account; null: that of the session that approves.",
        examples=["research"],
    )


class DeviceLoginOut(Answer):
    """A login that waits for approval (RFC 8628)."""

    device_code: str = Field(description="The device's secret, with which it fetches the token.", examples=["ipd_…"])
    user_code: str = Field(description="What the person enters or compares.", examples=["WDJB-MJHT"])
    verification_uri: str = Field(
        description="The page where the person enters it.", examples=["https://ipucloud.example.com/device"]
    )
    verification_uri_complete: str = Field(
        description="The same page with the code.", examples=["https://ipucloud.example.com/device?code=WDJB-MJHT"]
    )
    expires_in: int = Field(description="Seconds until both codes expire.", examples=[600])
    interval: int = Field(description="Seconds between two requests for the token.", examples=[5])


class DeviceTokenCreate(Body):
    """The device's code."""

    device_code: DeviceCode = Field(description="The device's secret.")


class DeviceLoginShow(Body):
    """The person's code."""

    user_code: UserCode = Field(description="The code that the device shows; case and hyphen do not count.")


class WaitingDeviceOut(Answer):
    """A device that waits, as the person who may approve sees it."""

    name: str = Field(description="Name that the device gives itself.", examples=["ann-laptop"])
    project: str | None = Field(description="The project that it asks for; null: any.", examples=["research"])
    address: str = Field(description="Network address from which it asked.", examples=["203.0.113.7"])
    created_at: datetime = Field(description="When it asked.")
    expires_at: datetime = Field(description="By when it must be approved.")
