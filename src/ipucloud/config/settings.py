"""Settings: frozen, built once at a process's entry, passed on. A field is `IPUCLOUD_<FIELD>` in the environment."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_data_path
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from ipucloud.config.constants import Constants, constants_of
from ipucloud.config.providers import OidcProvider, distinct
from ipucloud.config.secrets import current_secret, read_secrets
from ipucloud.config.values import (
    LOOPBACK,
    Networks,
    PostgresqlUrl,
    Seconds,
    VisibleSecret,
    address_pairs,
    between_commas,
    currency_code,
    http_url,
    lower_case,
    ports,
    sealing_keys_text,
    visible,
)
from ipucloud.kernel.sealing import Keys, read_keys


class _Variables(EnvSettingsSource):
    """Variables of the environment. Constants have none."""

    def __call__(self) -> dict[str, Any]:
        variables = {name: value for name, value in super().__call__().items() if name not in Constants.model_fields}
        return variables | constants_of(os.environ)


class Settings(Constants, BaseSettings):
    """How a process of the control plane runs. Durations are seconds."""

    model_config = SettingsConfigDict(
        env_prefix="IPUCLOUD_", frozen=True, extra="ignore", allow_inf_nan=False, hide_input_in_errors=True
    )

    environment: str = Field(
        "dev", pattern=r"^[a-z]{2,8}$", description="names the installation in its tokens: 2 to 8 lower-case letters"
    )
    catalogue: Path | None = Field(None, description="directory of your own catalogue; unset: the shipped one")
    data_dir: Path = Field(
        default_factory=lambda: user_data_path("ipucloud"),
        description="data of `ipucloud up`; unset: the user's data directory, or `.ipucloud` with `./dev`",
    )
    pg_bindir: Path | None = Field(
        None, description="PostgreSQL's programs for the embedded server; unset: the installed wheel's"
    )

    database_url: PostgresqlUrl | None = Field(
        None, description="PostgreSQL, as the application's role; unset: `up` runs an embedded one"
    )
    migration_database_url: PostgresqlUrl | None = Field(
        None, description="the same, as its owner, for migrations; unset: the application's URL"
    )
    database_pool_size: int = Field(
        5,
        ge=1,
        le=50,
        description="connections in each of an API process's three pools: transactions, single statements, reads",
    )

    secrets_key: Annotated[SecretStr, AfterValidator(sealing_keys_text)] | None = Field(
        None, description="encrypts stored secrets: 32 bytes in URL-safe base64; older keys follow after commas"
    )
    secrets_key_file: Path | None = Field(None, description="file with the keys, read at start")
    secrets_key_command: str | None = Field(
        None, min_length=1, description="command that prints the keys at start, within 10 seconds, without a shell"
    )

    site_url: Annotated[str, AfterValidator(http_url)] | None = Field(
        None, description="the site's HTTP interface; unset: `up` runs a simulated site"
    )
    site_token: VisibleSecret | None = Field(None, description="bearer token for the site")
    site_token_file: Path | None = Field(None, description="file with the token, read again when it changes")
    reached_at: Annotated[str, AfterValidator(address_pairs)] | None = Field(
        None,
        description="where this process reaches addresses that a site announces: `ANNOUNCED=REACHED`, separated by"
        " commas; certificates of V-IPU controllers must name the announced one",
    )
    vipu_user: Annotated[str, AfterValidator(visible)] = Field(
        "ipucloud", min_length=1, description="the control plane's administrator at secure V-IPU controllers"
    )
    vipu_access_key: VisibleSecret | None = Field(
        None, description="its access key; secure controllers need it, and `IPUCLOUD_SECRETS_KEY`"
    )
    vipu_access_key_file: Path | None = Field(None, description="file with the key, read again when it changes")
    vipu_client_certificate: str | None = Field(
        None,
        min_length=1,
        description="client certificate for the administration of V-IPU controllers, a PEM file, read again when it"
        " changes; `{controller}` in the path is the controller's name (the region's, if that has one controller)",
    )
    vipu_client_key: str | None = Field(
        None, min_length=1, description="its private key, without a password; unset: in the certificate's file"
    )
    vipu_plaintext: bool = Field(
        False, description="call V-IPU controllers without an authority, and send them the access key unencrypted"
    )
    request_life: Seconds = Field(
        120.0,
        description="how long a sent request can take effect at the site; released machines wait this long",
    )

    observation_limit: int | None = Field(
        None,
        ge=1,
        description="machines and hosts of a region that may fail in one reading before automatic actions halt; unset:"
        " 5, or 5 % if that is more",
    )
    validation: Annotated[
        frozenset[Literal["intake", "release", "repair"]], NoDecode, BeforeValidator(between_commas)
    ] = Field(
        frozenset({"intake", "release", "repair"}),
        description="after what a machine is validated before clusters get it; empty: never",
    )

    host: str = Field("127.0.0.1", description="where the API's public listener binds")
    port: int = Field(8000, ge=0, le=65535, description="its port")
    listen_fd: int | None = Field(
        None, ge=3, description="descriptor of a listening socket from a supervisor, instead of host and port"
    )
    tls_certificate: Path | None = Field(None, description="the API's certificate chain, a PEM file; unset: plain HTTP")
    tls_key: Path | None = Field(
        None, description="its private key, without a password; unset: in the certificate's file"
    )
    internal_host: str = Field("127.0.0.1", description="where internal listeners bind; keep it from customers")
    internal_port: int = Field(8001, ge=0, le=65535, description="the API's internal listener; 0: none")
    internal_listen_fd: int | None = Field(None, ge=3, description="descriptor of the internal listener's socket")
    trusted_proxies: Networks | None = Field(
        None, description="addresses and networks whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted"
    )
    connection_limit: int = Field(10_000, ge=1, description="connections; fewer if too few files may be open")
    connections_per_address: int = Field(
        1_000, ge=1, description="connections of one client address or IPv6 /64 network"
    )
    idle_timeout: Seconds = Field(
        75.0, description="how long a connection may stay open without a request; longer than your balancer's"
    )
    rate_limit_per_second: float = Field(
        50.0, gt=0, description="sustained requests of a token, or of an address without a known token"
    )
    rate_limit_burst: int = Field(200, ge=1, description="the same, at once")
    project_rate_limit_per_second: float = Field(200.0, gt=0, description="sustained requests of a project together")
    project_rate_limit_burst: int = Field(800, ge=1, description="the same, at once")

    session_seconds: Seconds = Field(43_200.0, description="how long a person stays signed in to the panel")
    session_idle_seconds: Seconds = Field(7_200.0, ge=300, description="the same without a request")
    login_seconds: Seconds = Field(2_592_000.0, description="how long a token of `ipucloud login` is valid")
    audit_log_days: int | None = Field(
        None, ge=90, description="days after which entries of the audit log are removed; unset: never"
    )
    oidc_providers: Annotated[tuple[OidcProvider, ...], AfterValidator(distinct)] = Field(
        (), description="OpenID Connect providers, as a JSON list"
    )
    ssh_certificate_limit: int = Field(86_400, ge=60, le=86_400, description="how long one may be valid at most")

    worker_slots: int = Field(32, ge=1, le=10_000, description="clusters that one worker reconciles at the same time")
    worker_internal_port: int = Field(8002, ge=0, le=65535, description="the worker's internal listener; 0: none")
    volume_gib_limit: int = Field(
        10_240,
        ge=0,
        description="GiB of a project's volumes and snapshots in a region, by default",
    )
    address_limit: int = Field(5, ge=0, description="addresses of a project in a region, by default")
    preemption_notice: Seconds = Field(600.0, ge=1, description="notice before a preemptible cluster is suspended")
    isolation_limit: int = Field(
        16,
        ge=0,
        description="machines and hosts of a region that are isolated per hour without an operator, and replaced in"
        " operations; 0: none",
    )
    sweep_limit: int = Field(16, ge=0, description="repairs that sweeps begin in a region per hour; 0: none")
    repair_limit: int = Field(5, ge=0, description="automatic repairs that begin in a region per hour; 0: none")
    maintenance_notice: Seconds = Field(72 * 3600.0, description="notice of planned maintenance to customers")
    drain_seconds: Seconds = Field(20.0, description="time for a process to finish running work when it ends")

    webhook_private_addresses: bool = Field(
        False, description="allow webhooks over plain HTTP, to any port and address, for closed networks"
    )
    smtp_host: Annotated[str, AfterValidator(visible)] | None = Field(
        None, min_length=1, description="SMTP server; unset: no e-mails are sent"
    )
    smtp_port: int = Field(587, ge=1, le=65535, description="its port")
    smtp_tls: Literal["starttls", "tls", "none"] = Field(
        "starttls", description="`starttls`, `tls` (usual on port 465), or `none`"
    )
    smtp_ca_file: Path | None = Field(None, description="certificates of the server's authority; unset: the system's")
    smtp_user: str | None = Field(None, min_length=1, description="user; unset: no authentication")
    smtp_password: SecretStr | None = Field(None, description="its password")
    smtp_password_file: Path | None = Field(None, description="file with the password")
    smtp_from: Annotated[str, Field(pattern=r"^[^@\s<>]+@[^@\s<>]+$")] | None = Field(
        None, description="the sender's address; set it with the host"
    )
    public_url: Annotated[str, AfterValidator(http_url)] | None = Field(
        None, description="address at which people reach the service, such as `https://cloud.example`"
    )
    allowed_hosts: Annotated[frozenset[str], NoDecode, BeforeValidator(between_commas), AfterValidator(lower_case)] = (
        Field(LOOPBACK, description="hosts, without ports, that links may lead to without a public URL")
    )

    stripe_secret_key: SecretStr | None = Field(
        None, description="secret or restricted key of Stripe, for workers; unset: operators record top-ups"
    )
    stripe_secret_key_file: Path | None = Field(None, description="file with the key, read whenever it is used")
    stripe_url: Annotated[str, AfterValidator(http_url)] = Field(
        "https://api.stripe.com", description="Stripe's API, or a proxy before it"
    )
    currency: Annotated[str, AfterValidator(currency_code)] = Field(
        "EUR", description="currency of accounts that name none, an ISO 4217 code"
    )
    provider_name: str = Field("IPU Cloud", min_length=1, description="the provider's name in cost exports")
    export_private_endpoints: bool = Field(
        False, description="deliver exports also to private addresses and over plain HTTP"
    )
    export_ports: Annotated[str, AfterValidator(ports)] = Field(
        "443", description="ports of public endpoints for exports, separated by commas"
    )

    log_format: Literal["json", "console"] = Field("json", description="`json` or `console`")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="`debug`, `info`, `warning` or `error`"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then variables. The other sources look for every variable again, in files that there are not."""
        return init_settings, _Variables(settings_cls)

    @model_validator(mode="before")
    @classmethod
    def _read_secrets(cls, values: dict[str, Any]) -> dict[str, Any]:
        return read_secrets(values, at_start=("secrets_key",), current=("site_token", "vipu_access_key"))

    @model_validator(mode="after")
    def _mails_have_a_sender(self) -> Settings:
        if (self.smtp_host is None) != (self.smtp_from is None):
            raise ValueError("IPUCLOUD_SMTP_HOST and IPUCLOUD_SMTP_FROM belong together: set both, or neither")
        return self

    def sealing_keys(self) -> Keys | None:
        """What encrypts secrets; None: the installation cannot store any."""
        return None if self.secrets_key is None else read_keys(self.secrets_key.get_secret_value())

    def reached(self, announced: str) -> str:
        """Where this process reaches what a site announces at this address."""
        pairs = (pair.partition("=") for pair in (self.reached_at or "").split(","))
        return next((reached for known, _, reached in pairs if known == announced), announced)

    def site_secret(self) -> Callable[[], str | None]:
        """What tells the site's token whenever a call is made."""
        return current_secret(self.site_token, self.site_token_file)

    def vipu_secret(self) -> Callable[[], str | None]:
        """What tells the access key at V-IPU controllers whenever a call is made."""
        return current_secret(self.vipu_access_key, self.vipu_access_key_file)

    def smtp_secret(self) -> str | None:
        """The SMTP server's password. Raises OSError if its file cannot be read."""
        if self.smtp_password_file is not None:
            return self.smtp_password_file.read_text().strip()
        return None if self.smtp_password is None else self.smtp_password.get_secret_value()

    def stripe_secret(self) -> str | None:
        """Stripe's secret key; None: Stripe is not used. Raises OSError if its file cannot be read."""
        if self.stripe_secret_key_file is not None:
            return self.stripe_secret_key_file.read_text().strip()
        return None if self.stripe_secret_key is None else self.stripe_secret_key.get_secret_value()

    @property
    def delivery_ports(self) -> frozenset[int]:
        """`export_ports` as numbers."""
        return frozenset(map(int, self.export_ports.split(",")))
