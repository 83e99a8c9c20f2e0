"""People: members, invitations, and what a person may change of itself."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from ipucloud.contract.fields import Answer, Body, not_null, secret
from ipucloud.contract.lists import Listed, Page
from ipucloud.contract.sources import Sources
from ipucloud.contract.tokens import NewTokenOut, TokenName, WhoamiOut


def _normalised(text: str) -> str:
    """The address in its one spelling. Raises PydanticCustomError."""
    from email_validator import EmailNotValidError, validate_email

    try:
        address = validate_email(text, check_deliverability=False, allow_domain_literal=False)
    except EmailNotValidError:
        raise PydanticCustomError("email", "Write an e-mail address such as ann@example.com") from None
    return address.normalized.lower()


Email = Annotated[str, Field(min_length=3, max_length=254, examples=["ann@example.com"]), AfterValidator(_normalised)]
Guess = Annotated[str, Field(min_length=1, max_length=256, json_schema_extra=secret())]
"""A password that is compared; one to be set has a minimum of characters."""
NewPassword = Annotated[
    str,
    Field(
        min_length=12,
        max_length=256,
        description="From 12 characters, and not easy to guess.",
        examples=["quiet-harbour-42-lamp"],
        json_schema_extra=secret(),
    ),
]
InvitationSecret = Annotated[str, Field(min_length=1, max_length=128, examples=["ipi_…"], json_schema_extra=secret())]
ProjectRole = Literal["viewer", "operator", "billing", "owner"]


_SOURCES = (
    "Networks (CIDR) from which the person's sessions in the panel and logins of the command line are accepted; empty:"
    " from everywhere. Personal tokens have their own."
)


class MemberOut(Answer):
    """A member of a project or of a billing account."""

    id: UUID = Field(description="Id of the membership.")
    email: str = Field(description="E-mail of the person.", examples=["ann@example.com"])
    role: str = Field(examples=["operator"])
    verified: bool = Field(
        description="Whether the person has shown that the e-mail is theirs; else it may be anybody who had the link."
    )
    allowed_sources: list[str] = Field(description=_SOURCES, examples=[["203.0.113.0/24"]])
    since: datetime = Field(description="When the person became a member.")
    last_seen_at: datetime | None = Field(
        description="When the person last used the panel or the command line here, to the hour; null: not yet."
    )


class MemberPage(Page[MemberOut]):
    pass


class AccountMemberList(Listed):
    """Payers of a billing account that match the filter."""

    email: str | None = Field(
        None, description="Only people with this in their e-mail, in upper or lower case.", examples=["ann@example.com"]
    )


class MemberList(AccountMemberList):
    """Members of a project that match every filter."""

    role: ProjectRole | None = Field(None, description="Only members with this role.")


class MemberPatch(Body):
    """What can be changed of a member. Omitted fields stay unchanged."""

    role: Annotated[ProjectRole | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None,
        description="The person's new role, at once in everything that they are signed in to.",
        examples=["operator"],
    )
    allowed_sources: Annotated[Sources | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description=_SOURCES, examples=[["203.0.113.0/24"]]
    )


class InvitationOut(Answer):
    """An invitation without its secret."""

    id: UUID
    email: str = Field(description="E-mail of the invited person.", examples=["ann@example.com"])
    role: str = Field(description="Role that the person will have.", examples=["operator"])
    invited_by: str | None = Field(
        description="E-mail of the person, or name of the token, that invited.", examples=["bob@example.com"]
    )
    emailed: bool = Field(
        description="Whether the service sends the link to the person by e-mail, and shows it to nobody."
    )
    state: str = Field(description="`open`, `accepted`, `revoked` or `expired`.", examples=["open"])
    created_at: datetime
    expires_at: datetime
    accepted_at: datetime | None = Field(description="When it was accepted; null if it was not.")
    revoked_at: datetime | None
    member_id: UUID | None = Field(description="Id of the membership that came of it; null if none did.")


class NewInvitationOut(InvitationOut):
    """An invitation, with its secret if the service does not send it to the person."""

    url: str | None = Field(
        description="Address to send to the person; the secret is in its fragment. Null if the service sends it to"
        " them (`emailed`), and in a replayed response.",
        examples=["https://ipucloud.example.com/invitation#secret=ipi_…"],
    )
    secret: str | None = Field(
        description="The secret, shown only once; null if `emailed`, and in a replayed response.", examples=["ipi_…"]
    )


class InvitationPage(Page[InvitationOut]):
    pass


class InvitationList(Listed):
    """Invitations that match the filter."""

    open: bool | None = Field(None, description="True: only those that can be accepted now.")


class InvitationCreate(Body):
    """Whom to invite to a project."""

    email: Email = Field(description="E-mail of the person.")
    role: ProjectRole = Field(description="Role that the person will have.")


class AccountInvitationCreate(Body):
    """Whom to invite to a billing account, as a payer."""

    email: Email = Field(description="E-mail of the person.")


class InvitationShow(Body):
    """The secret of an invitation."""

    secret: InvitationSecret = Field(description="The secret of the link.")


class InvitationAccept(Body):
    """The secret of an invitation, and the person's password."""

    secret: InvitationSecret = Field(description="The secret of the link.")
    password: Guess = Field(
        description="The password of the person's account; without one that counts (`has_account`), the one that it"
        " will have: from 12 characters, and not easy to guess.",
        examples=["quiet-harbour-42-lamp"],
    )


class InvitedOut(Answer):
    """What an invitation is to."""

    email: str = Field(description="E-mail of the invited person.", examples=["ann@example.com"])
    role: str = Field(description="Role that the person will have.", examples=["operator"])
    invited_by: str | None = Field(
        description="E-mail of the person, or name of the token, that invited.", examples=["bob@example.com"]
    )
    project: str | None = Field(description="Slug of the project; null: a billing account.", examples=["research"])
    project_name: str | None = Field(description="Name of the project.", examples=["Research"])
    account_id: UUID | None = Field(description="Id of the billing account; null: a project.")
    expires_at: datetime
    has_account: bool = Field(
        description="Whether the person has an account, whose password is then needed. One whose e-mail was never"
        " verified does not count where the link was sent by e-mail."
    )


class LoginCreate(Body):
    """Who logs in with the command line, and where."""

    email: Email = Field(description="E-mail of the person.")
    password: Guess = Field(description="Password of the person.", examples=["quiet-harbour-42-lamp"])
    project: str | None = Field(
        None,
        min_length=1,
        max_length=128,
        description="Slug or id of the project, or id of the billing account; null: the last one used.",
        examples=["research"],
    )
    name: TokenName = Field("command line", description="Name of the token, such as that of the computer.")


class LoginOut(NewTokenOut):
    """A token of the person, which expires."""

    project: str | None = Field(description="Slug of the project; null: a billing account.", examples=["research"])


class UserOut(Answer):
    """A person."""

    id: UUID
    email: str = Field(description="E-mail of the person.", examples=["ann@example.com"])
    created_at: datetime
    password_set_at: datetime | None = Field(
        description="When the password was set; null: the person signs in through an identity provider only."
    )
    verified_at: datetime | None = Field(
        description="When the person first showed that the e-mail is theirs; null: not yet."
    )


class MembershipOut(Answer):
    """Where a person is a member."""

    id: UUID = Field(description="Id of the membership.")
    role: str = Field(examples=["operator"])
    project_id: UUID | None = Field(description="Id of the project; null: a billing account.")
    project: str | None = Field(description="Slug of the project; null: a billing account.", examples=["research"])
    account_id: UUID | None = Field(description="Id of the billing account; null: a project.")
    since: datetime = Field(description="When the person became a member.")


class MeOut(WhoamiOut):
    """The caller: the person, with every membership, or a service token alone."""

    user: UserOut | None = Field(description="The person whose the token is; null for a service token.")
    memberships: list[MembershipOut] = Field(description="Where the person is a member.")


class PasswordChange(Body):
    """A new password, and the present one."""

    current_password: Guess = Field(description="The present password.", examples=["quiet-harbour-42-lamp"])
    new_password: NewPassword


class SessionSwitch(Body):
    """Where the session goes on."""

    membership_id: Annotated[UUID, Field(strict=False)] = Field(description="Id of one of the person's memberships.")
