"""Calls of a person: who it is, its logins of the command line, its password."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, given, nothing
from ipucloud.client.models import DeviceLogin, Login, Me, Notifications

NOBODY = "nobody"
"""The token of a client that has none yet, for `log_in`; it gives access to nothing."""


def get() -> Call[Me]:
    """The person whose the token is, and where it is a member."""
    return request.get("me", Me, scoped=False)


def log_in(email: str, password: str, *, project: str | None = None, name: str | None = None) -> Call[Login]:
    """Get a token of the person; for `Client(url, me.NOBODY)`. `project` None: the last one used."""
    body = given(email=email, password=password, project=project, name=name)
    return request.post("login", Login, body, scoped=False)


def begin_device_login(*, name: str | None = None, project: str | None = None) -> Call[DeviceLogin]:
    """Begin a login that a person approves in the panel; for `Client(url, me.NOBODY)`."""
    return request.post("login/devices", DeviceLogin, given(name=name, project=project), scoped=False)


def fetch_device_token(device_code: str) -> Call[Login]:
    """The token of an approved login, once. Until then ApiError with the code authorization_pending or slow_down."""
    return request.post("login/devices:token", Login, {"device_code": device_code}, scoped=False)


def notifications() -> Call[Notifications]:
    """Which events the person gets by e-mail."""
    return request.get("me/notifications", Notifications, scoped=False)


def replace_notifications(language: str, subscriptions: Mapping[str, Sequence[str]]) -> Call[Notifications]:
    """Choose the events to get by e-mail: types by project. Projects that are not named are no longer notified of."""
    chosen = [{"project": project, "event_types": [*types]} for project, types in subscriptions.items()]
    body = {"language": language, "subscriptions": chosen}
    return Call("PUT", "me/notifications", Notifications, body=body, scoped=False)


def log_out() -> Call[None]:
    """End the caller's token, which `log_in` got."""
    return request.delete("login", nothing, scoped=False)


def change_password(current: str, new: str) -> Call[None]:
    """Change the password. Other sessions and logins of the person end immediately."""
    body = {"current_password": current, "new_password": new}
    return Call("PUT", "me/password", nothing, body=body, scoped=False)
