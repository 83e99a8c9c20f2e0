"""Calls for people and their access: projects, members, invitations, the caller's own account, SSH keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, nothing, place, segment, without_none
from ipucloud.client.models import (
    DeviceLogin,
    Invitation,
    Invited,
    Login,
    Me,
    Member,
    NewInvitation,
    Notifications,
    Overview,
    Page,
    Project,
    SignInLink,
    SshAuthority,
    SshKey,
)


class projects:
    """Calls for projects."""

    @staticmethod
    def list(
        *, name: str | None = None, q: str | None = None, order: str | None = None, limit: int | None = None
    ) -> Call[Page[Project]]:
        """The projects visible to the token; `name`: with exactly this name or slug, `q`: with this in one of them."""
        query = {"name": name, "q": q, "order": order, "limit": limit}
        return request.get("projects", Page[Project], query, scoped=False)

    @staticmethod
    def get(project: str) -> Call[Project]:
        """One project, by id, number or slug."""
        return request.get(f"projects/{segment(project)}", Project, scoped=False)

    @staticmethod
    def overview() -> Call[Overview]:
        """The project at a glance: clusters by state, quotas, running operations, latest events, this month's cost."""
        return request.get("overview", Overview)

    @staticmethod
    def metrics() -> Call[bytes]:
        """What was observed last of each cluster in use, in the text format of Prometheus."""
        return request.get("metrics", bytes)

    @staticmethod
    def create(slug: str, name: str) -> Call[Project]:
        """Create a project. Needs a platform token."""
        return request.post("projects", Project, {"slug": slug, "name": name}, scoped=False)

    @staticmethod
    def update(project: str, *, name: str, if_match: str | None = None) -> Call[Project]:
        """Rename a project; its slug never changes. Needs a platform token."""
        return request.patch(f"projects/{segment(project)}", Project, {"name": name}, scoped=False, if_match=if_match)

    @staticmethod
    def delete(project: str) -> Call[None]:
        """Delete a project that holds no machines, and revoke its tokens. Needs a platform token."""
        return request.delete(f"projects/{segment(project)}", nothing, scoped=False)


class members:
    """Calls for members of a project; `account`: of this billing account, for administrators."""

    @staticmethod
    def list(
        *,
        role: str | None = None,
        email: str | None = None,
        account: Ref | None = None,
        order: str | None = None,
        limit: int | None = None,
    ) -> Call[Page[Member]]:
        """Members, newest first; `email`: those with this in their e-mail. An account's members all have one role."""
        query = {"role": role, "email": email, "order": order, "limit": limit}
        return request.get(place("members", account), Page[Member], query, scoped=account is None)

    @staticmethod
    def set_role(member: Ref, role: str) -> Call[Member]:
        """Give a member another role: `viewer`, `operator`, `billing` or `owner`; at once."""
        return request.patch(f"members/{segment(member)}", Member, {"role": role})

    @staticmethod
    def limit(member: Ref, allowed_sources: Sequence[str]) -> Call[Member]:
        """Accept a member's sessions and logins from these networks only, at once; none: from everywhere."""
        return request.patch(f"members/{segment(member)}", Member, {"allowed_sources": [*allowed_sources]})

    @staticmethod
    def delete(member: Ref, *, account: Ref | None = None) -> Call[None]:
        """Remove a member. Their sessions and tokens here end immediately."""
        return request.delete(f"{place('members', account)}/{segment(member)}", nothing, scoped=account is None)


class invitations:
    """Calls for invitations to a project; `account`: to this billing account, for administrators."""

    @staticmethod
    def list(
        *, open: bool | None = None, account: Ref | None = None, order: str | None = None, limit: int | None = None
    ) -> Call[Page[Invitation]]:
        """Invitations; `open`: only those that can be accepted now."""
        query = {"open": open, "order": order, "limit": limit}
        return request.get(place("invitations", account), Page[Invitation], query, scoped=account is None)

    @staticmethod
    def create(email: str, role: str | None = None, *, account: Ref | None = None) -> Call[NewInvitation]:
        """Invite a person. The service sends them the link (`emailed`), or else only this response has it, to pass on.

        `role`: `viewer`, `operator`, `billing` or `owner`; None for a billing account.
        """
        body = without_none(email=email, role=role)
        return request.post(place("invitations", account), NewInvitation, body, scoped=account is None)

    @staticmethod
    def renew(invitation: Ref, *, account: Ref | None = None) -> Call[NewInvitation]:
        """Make another link, which is sent or returned as by `create`; the former one ends."""
        path = f"{place('invitations', account)}/{segment(invitation)}:renew"
        return request.post(path, NewInvitation, scoped=account is None)

    @staticmethod
    def delete(invitation: Ref, *, account: Ref | None = None) -> Call[None]:
        """Revoke an invitation. It stays in the list."""
        path = f"{place('invitations', account)}/{segment(invitation)}"
        return request.delete(path, nothing, scoped=account is None)

    @staticmethod
    def show(secret: str) -> Call[Invited]:
        """What an invitation is to, by the secret of its link; for anybody."""
        return request.post("invitations:show", Invited, {"secret": secret}, scoped=False)

    @staticmethod
    def accept(secret: str, password: str) -> Call[Invited]:
        """Accept an invitation; the password is that of the person's account, or the one that it will have."""
        return request.post("invitations:accept", Invited, {"secret": secret, "password": password}, scoped=False)


class me:
    """Calls of a person: who it is, its logins of the command line, its password."""

    NOBODY = "nobody"
    """The token of a client that has none yet, for `log_in`; it gives access to nothing."""

    @staticmethod
    def get() -> Call[Me]:
        """The person whose the token is, and where it is a member."""
        return request.get("me", Me, scoped=False)

    @staticmethod
    def log_in(email: str, password: str, *, project: str | None = None, name: str | None = None) -> Call[Login]:
        """Get a token of the person; for `Client(url, me.NOBODY)`. `project` None: the last one used."""
        body = without_none(email=email, password=password, project=project, name=name)
        return request.post("login", Login, body, scoped=False)

    @staticmethod
    def begin_device_login(*, name: str | None = None, project: str | None = None) -> Call[DeviceLogin]:
        """Begin a login that a person approves in the panel; for `Client(url, me.NOBODY)`."""
        return request.post("login/devices", DeviceLogin, without_none(name=name, project=project), scoped=False)

    @staticmethod
    def fetch_device_token(device_code: str) -> Call[Login]:
        """The token of an approved login, once. Until then ApiError authorization_pending or slow_down."""
        return request.post("login/devices:token", Login, {"device_code": device_code}, scoped=False)

    @staticmethod
    def notifications() -> Call[Notifications]:
        """Which events the person gets by e-mail."""
        return request.get("me/notifications", Notifications, scoped=False)

    @staticmethod
    def replace_notifications(language: str, subscriptions: Mapping[str, Sequence[str]]) -> Call[Notifications]:
        """Choose the events to get by e-mail: types by project. Projects that are not named send none."""
        chosen = [{"project": project, "event_types": [*types]} for project, types in subscriptions.items()]
        body = {"language": language, "subscriptions": chosen}
        return Call("PUT", "me/notifications", Notifications, body=body, scoped=False)

    @staticmethod
    def log_out() -> Call[None]:
        """End the caller's token, which `log_in` got."""
        return request.delete("login", nothing, scoped=False)

    @staticmethod
    def change_password(current: str, new: str) -> Call[None]:
        """Change the password. Other sessions and logins of the person end immediately."""
        body = {"current_password": current, "new_password": new}
        return Call("PUT", "me/password", nothing, body=body, scoped=False)


class sessions:
    """Calls for signing in to the control panel."""

    @staticmethod
    def sign_in_link() -> Call[SignInLink]:
        """A link that signs one browser in with the caller's token: once, within ten minutes."""
        return request.post("session/links", SignInLink, {}, scoped=False)


class ssh_keys:
    """Calls for the SSH keys that may log in to new clusters."""

    @staticmethod
    def list(
        *, name: str | None = None, q: str | None = None, order: str | None = None, limit: int | None = None
    ) -> Call[Page[SshKey]]:
        """The project's keys; `name`: exactly this one, `q`: those with this in their name."""
        return request.get("ssh-keys", Page[SshKey], {"name": name, "q": q, "order": order, "limit": limit})

    @staticmethod
    def get(key: Ref) -> Call[SshKey]:
        """One key, by name or id."""
        return request.get(f"ssh-keys/{segment(key)}", SshKey)

    @staticmethod
    def create(name: str, public_key: str) -> Call[SshKey]:
        """Add a public key: one line, as in `id_ed25519.pub`."""
        return request.post("ssh-keys", SshKey, {"name": name, "public_key": public_key})

    @staticmethod
    def delete(key: Ref) -> Call[None]:
        """Delete a key. Servers that already accept it still do."""
        return request.delete(f"ssh-keys/{segment(key)}", nothing)


class ssh_authority:
    """What signs the SSH certificates of a project's members; `clusters.sign_ssh_key` gets one."""

    @staticmethod
    def get() -> Call[SshAuthority]:
        """The authority, with the clusters whose servers do not know it yet. The first cluster brings it."""
        return request.get("ssh-authority", SshAuthority)

    @staticmethod
    def rotate() -> Call[SshAuthority]:
        """Replace the authority: no certificate of the former one logs in, once each cluster has learnt of it."""
        return request.post("ssh-authority:rotate", SshAuthority)
