"""What the service says of itself, and a user as it is read and written."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError
from scim2_models import (
    URI,
    AuthenticationScheme,
    Bulk,
    ChangePassword,
    ComplexAttribute,
    ETag,
    Filter,
    Meta,
    Patch,
    Reference,
    Required,
    Resource,
    ResourceType,
    Schema,
    ScimPolicy,
    ServiceProviderConfig,
    Sort,
    Uniqueness,
)
from scim2_models.urn import URN

from ipucloud.contract.people import Email
from ipucloud.extras.scim.errors import PATH, refused
from ipucloud.identity.provisioning import Person, Profile

MOST_RESULTS = 200
LONGEST = 256
"""Characters of a name or an `externalId`."""
POLICY = ScimPolicy(
    unknown=ScimPolicy.Unknown.ignore,
    remove_value_as_filter=ScimPolicy.RemoveValue.apply,
    unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,
)
"""Identity providers send attributes of all schemas, whatever a service publishes; Entra ID has ways of its own."""
_EMAIL: TypeAdapter[str] = TypeAdapter(Email)


class Name(ComplexAttribute):
    """The components of a person's name."""

    formatted: str | None = None
    """The full name."""

    family_name: str | None = None
    """The family name."""

    given_name: str | None = None
    """The given name."""


class User(Resource[Any]):
    """A person with an account. Memberships are given by invitations, not here."""

    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:User")

    user_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    """The person's e-mail, in lower case."""

    name: Name | None = None
    """The components of the person's name."""

    display_name: str | None = None
    """The name to show."""

    active: Annotated[bool | None, Required.true] = None
    """Whether the person may sign in. A POST without it means true, a PUT without it leaves it as it is."""


def user_of(person: Person, base: str) -> User:
    """`base`: where the service is."""
    profile = person.profile
    name = Name(formatted=profile.formatted_name, family_name=profile.family_name, given_name=profile.given_name)
    return User(
        id=str(person.id),
        external_id=profile.external_id,
        user_name=profile.email,
        name=name if name.model_dump() else None,
        display_name=profile.display_name,
        active=profile.active,
        meta=Meta(
            resource_type="User",
            created=person.created_at,
            last_modified=person.updated_at,
            location=location_of(f"Users/{person.id}", base),
        ),
    )


def with_active(body: object, *, active: bool) -> object:
    """The body of a POST or PUT that says whether the person is active, although some providers leave that out."""
    if not isinstance(body, dict) or any(str(name).lower() == "active" and body[name] is not None for name in body):
        return body
    return {name: value for name, value in body.items() if name.lower() != "active"} | {"active": active}


def profile_of(user: User) -> Profile:
    """What a user says of a person. Raises `Problem` malformed_request."""
    name = user.name or Name()
    profile = Profile(
        email=_email(user.user_name),
        active=bool(user.active),
        external_id=user.external_id,
        display_name=user.display_name,
        formatted_name=name.formatted,
        given_name=name.given_name,
        family_name=name.family_name,
    )
    if any(isinstance(each, str) and len(each) > LONGEST for each in profile):
        raise refused("invalidValue", f"externalId and the parts of a name have at most {LONGEST} characters.")
    return profile


def _email(user_name: str | None) -> str:
    try:
        return _EMAIL.validate_python(user_name)
    except ValidationError:
        raise refused(
            "invalidValue",
            "userName is the person's e-mail, such as ann@example.com. Map userName to the e-mail in your identity"
            " provider.",
        ) from None


def config(base: str) -> ServiceProviderConfig:
    """What of the protocol there is."""
    return ServiceProviderConfig(
        documentation_uri=None,
        patch=Patch(supported=True),
        bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
        filter=Filter(supported=True, max_results=MOST_RESULTS),
        change_password=ChangePassword(supported=False),
        sort=Sort(supported=False),
        etag=ETag(supported=False),
        authentication_schemes=[
            AuthenticationScheme(
                type=AuthenticationScheme.Type.oauthbearertoken,
                name="Token",
                description="A token of the platform with the scope person:provision, as Authorization: Bearer.",
                spec_uri="https://www.rfc-editor.org/info/rfc6750",
                primary=True,
            )
        ],
        meta=Meta(resource_type="ServiceProviderConfig", location=location_of("ServiceProviderConfig", base)),
    )


def resource_types(base: str) -> list[ResourceType]:
    """The only one."""
    resource_type = ResourceType.from_resource(User)
    resource_type.description = "People with an account of this installation"
    resource_type.meta = Meta(resource_type="ResourceType", location=location_of("ResourceTypes/User", base))
    return [resource_type]


def schemas(base: str) -> list[Schema]:
    """Of that resource type, and of what describes the service."""
    items = [model.to_schema() for model in (User, ResourceType, Schema, ServiceProviderConfig)]
    for schema in items:
        schema.meta = Meta(resource_type="Schema", location=location_of(f"Schemas/{schema.id}", base))
    return items


def location_of(what: str, base: str) -> Reference[URI]:
    return Reference[URI](f"{base.rstrip('/')}{PATH}/{what}")
