"""OpenID Connect providers of an installation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from ipucloud.config.values import LOOPBACK, http_url


def _issuer(text: str) -> str:
    parts = urlsplit(http_url(text))
    if parts.scheme != "https" and parts.hostname not in LOOPBACK:
        raise ValueError("it must begin with https://")
    if parts.query or parts.fragment:
        raise ValueError("it must have neither a query nor a fragment")
    return text


class OidcProvider(BaseModel):
    """An OpenID Connect provider through which people sign in."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,31}$", description="its name in addresses; never changes")
    title: str = Field(min_length=1, max_length=64, description="its name on the button")
    issuer: Annotated[str, AfterValidator(_issuer)]
    client_id: str = Field(min_length=1)
    client_secret: SecretStr | None = None
    client_secret_file: Path | None = Field(None, description="file with the secret, instead of `client_secret`")
    email_domains: Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        description="domains of the e-mails for which the provider is trusted"
    )
    email_claim: str = Field("email", min_length=1)
    emails_are_verified: bool = Field(
        False,
        description="the operator vouches that the provider gives nobody an e-mail of these domains that is another's,"
        " where it does not say so with `email_verified`",
    )
    timeout: float = Field(5.0, gt=0, le=30, description="seconds for one request to it")

    @model_validator(mode="after")
    def _one_secret(self) -> OidcProvider:
        if (self.client_secret is None) == (self.client_secret_file is None):
            raise ValueError("give either client_secret or client_secret_file")
        return self

    def secret(self) -> str:
        """The client secret. Raises OSError if its file cannot be read."""
        if self.client_secret_file is not None:
            return self.client_secret_file.read_text().strip()
        return self.client_secret.get_secret_value() if self.client_secret else ""

    def written(self) -> dict[str, Any]:
        """As the setting has it, with its secret."""
        known = self.model_dump(mode="json", exclude_none=True)
        return known if self.client_secret is None else known | {"client_secret": self.secret()}

    def trusted_with(self, email: str) -> bool:
        """Whether the provider speaks for the e-mail's domain."""
        return email.rpartition("@")[2] in {domain.lower() for domain in self.email_domains}


def distinct(providers: tuple[OidcProvider, ...]) -> tuple[OidcProvider, ...]:
    for field in ("name", "issuer"):
        if len({getattr(provider, field) for provider in providers}) != len(providers):
            raise ValueError(f"two providers have the same {field}")
    return providers
