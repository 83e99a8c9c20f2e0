"""Settings: frozen, built once at a process's entry, passed on. A field is `IPUCLOUD_<FIELD>` in the environment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_data_path
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from ipucloud.config.providers import OidcProvider, distinct
from ipucloud.config.secrets import current_secret, read_given
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


class Settings(BaseSettings):
    """How a process of the control plane runs. Durations are seconds."""

    model_config = SettingsConfigDict(
        env_prefix="IPUCLOUD_", frozen=True, extra="ignore", allow_inf_nan=False, hide_input_in_errors=True
    )

    environment: str = Field("dev", pattern=r"^[a-z]{2,8}$", description="the <env> part of tokens")
    catalogue: Path | None = Field(
        None, description="directory of the catalogue's data files; unset: the one shipped with the product"
    )
    data_dir: Path = Field(
        default_factory=lambda: user_data_path("ipucloud"),
        description="where `ipucloud up` keeps its database and its site; unset: in the user's data directory",
    )
    pg_bindir: Path | None = Field(None, description="PostgreSQL binaries for the embedded server")

    database_url: PostgresqlUrl | None = Field(None, description="application's PostgreSQL; unset: the embedded server")
    migration_database_url: PostgresqlUrl | None = Field(None, description="owner's PostgreSQL; unset: database_url")
    database_pool_size: int = Field(5, ge=1, le=50)
    database_pool_timeout: Seconds = 5.0

    secrets_key: Annotated[SecretStr, AfterValidator(sealing_keys_text)] | None = Field(
        None, description="encrypts customers' secrets: 32 bytes in URL-safe base64; older keys follow after commas"
    )

    site_url: Annotated[str, AfterValidator(http_url)] | None = Field(None, description="the site's HTTP interface")
    secrets_key_file: Path | None = Field(None, description="file with the keys, instead of the former")
    secrets_key_command: str | None = Field(
        None, min_length=1, description="command that prints the keys when a process starts, instead of the former"
    )
    site_token: VisibleSecret | None = None
    site_token_file: Path | None = Field(
        None, description="file with the token, instead of the former; it is read again when it changes"
    )
    reached_at: Annotated[str, AfterValidator(address_pairs)] | None = Field(
        None,
        description="where this process reaches Poplar servers and V-IPU controllers that sites announce at other"
        " addresses: ANNOUNCED=REACHED, separated by commas",
    )
    vipu_user: Annotated[str, AfterValidator(visible)] = Field(
        "ipucloud",
        min_length=1,
        description="the control plane's user at secure V-IPU controllers; sees every allocation",
    )
    vipu_access_key: VisibleSecret | None = Field(None, description="this user's access key")
    vipu_access_key_file: Path | None = Field(
        None, description="file with the key, instead of the former; it is read again when it changes"
    )
    vipu_client_certificate: str | None = Field(
        None,
        min_length=1,
        description="file with the client certificate for the administration of V-IPU controllers, PEM;"
        " `{controller}` in its path stands for the controller's name; it is read again when it changes",
    )
    vipu_client_key: str | None = Field(
        None, min_length=1, description="file with its private key; unset: in the file of the certificate"
    )
    vipu_plaintext: bool = Field(
        False, description="call V-IPU controllers without TLS too, and send them the access key unencrypted"
    )
    site_call_timeout: Seconds = Field(10.0, description="one call to the site; shorter than a lease")
    site_calls_per_second: float = Field(1000.0, gt=0, description="calls per second of one worker; further calls wait")
    site_poll_interval: Seconds = Field(5.0, description="how often a pending step checks again")
    request_life: Seconds = Field(120.0, description="how long a sent request can still take effect at the site")

    observation_interval: Seconds = Field(
        5.0, description="how often a region's hardware is read; every second while something is suspected"
    )
    observation_expires: Seconds = Field(
        60.0, description="age of the last complete reading at which the health of a region's hardware is unknown"
    )
    observation_limit: int | None = Field(
        None,
        ge=1,
        description="objects of a region that may fail in one reading before automatic actions are halted; "
        "unset: 5, or 5 % of the region if that is more",
    )

    metrics_kept: Seconds = Field(
        14 * 86_400.0, ge=3600, description="how long the metrics of clusters are kept, a row for each and minute"
    )

    consoles_kept: Seconds = Field(
        30 * 86_400.0, ge=3600, description="how long the console of a boot is kept after it was read last"
    )

    validation: Annotated[
        frozenset[Literal["intake", "release", "repair"]], NoDecode, BeforeValidator(between_commas)
    ] = Field(
        frozenset({"intake", "release", "repair"}),
        description="after what a machine is validated before clusters get it, separated by commas; empty: never",
    )
    validation_limit: int = Field(64, ge=1, description="machines of a region that are validated at the same time")
    validation_deadline: Seconds = Field(
        1800.0, description="how long a validation may take to test its machines, and then to switch them off"
    )

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    listen_fd: int | None = Field(
        None,
        ge=3,
        description="descriptor of a listening socket passed by a supervisor; takes precedence over host and port",
    )
    tls_certificate: Path | None = Field(
        None, description="file with the API's certificate chain, PEM; unset: the API speaks HTTP without TLS"
    )
    tls_key: Path | None = Field(None, description="file with its private key; unset: in the file of the certificate")
    internal_host: str = Field("127.0.0.1", description="where the internal listeners bind; keep it from customers")
    internal_port: int = Field(8001, ge=0, le=65535, description="/metrics and details; 0: none")
    internal_listen_fd: int | None = Field(None, ge=3, description="the same for the internal listener")
    trusted_proxies: Networks | None = Field(
        None, description="addresses or networks whose X-Forwarded-For and X-Forwarded-Proto are trusted"
    )
    unread_limit: int = Field(
        268_435_456,
        ge=1_048_576,
        description="bytes of long answers of one API process that clients have not read whole",
    )
    connection_limit: int = Field(10_000, ge=1, description="connections of one API process at the same time")
    connections_per_address: int = Field(
        1_000, ge=1, description="of one client address and API process; an IPv6 /64 network counts as one address"
    )
    stream_limit: int = Field(1_000, ge=1, description="open event streams of one API process")
    streams_per_project: int = Field(100, ge=1, description="of one project, or account, and API process")
    terminal_limit: int = Field(200, ge=1, description="open terminals of one API process")
    terminals_per_project: int = Field(20, ge=1, description="open terminals of one project")
    terminal_idle_seconds: Seconds = Field(900.0, description="a terminal in which nobody types is closed after that")
    terminal_seconds: Seconds = Field(43_200.0, description="how long a terminal may be open")
    service_request_limit: int = Field(
        32, ge=1, description="requests that one API process forwards to a service at the same time"
    )
    service_body_limit: int = Field(67_108_864, ge=1, description="bytes of a body that is forwarded to a service")
    service_timeout: Seconds = Field(
        60.0,
        description="how long the program of a service may take to begin its answer, and between two parts",
    )
    header_limit: int = Field(65_536, ge=1024, description="bytes of a request without its body")
    header_timeout: Seconds = Field(10.0, description="how long a request's header may take to arrive")
    body_timeout: Seconds = Field(30.0, description="how long a request's body may take to arrive")
    idle_timeout: Seconds = Field(
        75.0, description="how long a connection may stay without a request; longer than a balancer keeps it"
    )
    write_timeout: Seconds = Field(30.0, description="how long a client may take to read 64 KiB of its answer")
    body_limit: int = Field(262_144, ge=1024, description="bytes of a request body")
    session_seconds: Seconds = Field(43_200.0, description="how long a person stays signed in to the panel at most")
    session_idle_seconds: Seconds = Field(
        7_200.0, ge=300, description="how long without a request; uses are noted once a minute"
    )
    login_seconds: Seconds = Field(2_592_000.0, description="how long a token of `ipucloud login` is valid")
    invitation_seconds: Seconds = Field(604_800.0, description="how long an invitation can be accepted")
    audit_log_days: int | None = Field(
        None, ge=90, description="after how many days entries of the audit log are removed; unset: never"
    )
    oidc_providers: Annotated[tuple[OidcProvider, ...], AfterValidator(distinct)] = Field(
        (), description="OpenID Connect providers through which people sign in, as a JSON list"
    )
    ssh_certificate_seconds: int = Field(
        3600, ge=60, le=86_400, description="how long an SSH certificate is valid that is asked for without a time"
    )
    ssh_certificate_limit: int = Field(86_400, ge=60, le=86_400, description="how long an SSH certificate may be valid")
    rate_limit_per_second: float = Field(50.0, gt=0, description="requests per token or address and process, sustained")
    rate_limit_burst: int = Field(200, ge=1)
    project_rate_limit_per_second: float = Field(
        200.0, gt=0, description="the same of all tokens of a project together"
    )
    project_rate_limit_burst: int = Field(800, ge=1)

    worker_slots: int = Field(32, ge=1, le=10_000, description="clusters one worker reconciles at the same time")
    worker_internal_port: int = Field(8002, ge=0, le=65535)
    lease_seconds: Seconds = 30.0
    poll_seconds: Seconds = Field(1.0, description="floor of the engine's polling when no wake arrives")
    reap_seconds: Seconds = Field(1.0, description="how often a worker frees leases of dead workers")
    partitions_quiet_interval: Seconds = Field(
        60.0, description="how often a cluster's partitions are checked while nothing changes"
    )
    partitions_change_interval: Seconds = Field(1.0, description="the same after a change, or during one")
    volume_gib_limit: int = Field(
        10_240, ge=0, description="GiB that the volumes and snapshots of a project may have together in a region"
    )
    address_limit: int = Field(5, ge=0, description="addresses that a project may have in a region")
    step_attempts: int = Field(5, ge=1, description="failures of one step before the operation is undone")
    create_deadline: Seconds = 3600.0
    preemption_notice: Seconds = Field(
        600.0, ge=1, description="how long before it is suspended a preemptible cluster is told so"
    )
    isolation_after: Seconds = Field(
        120.0,
        description="how long a delete or suspend waits for a failed host or machine, or one that does not answer,"
        " before it isolates it and goes on",
    )
    isolation_limit: int = Field(
        16,
        ge=0,
        description="machines and hosts of a region that are isolated per hour without an operator, and for how many"
        " more creates and resumes take others; 0: none",
    )
    sweep_limit: int = Field(
        16, ge=0, description="repairs that sweeps begin in a region per hour without an operator; 0: none"
    )
    power_limit: Seconds = Field(
        600.0, description="how long a machine may take to switch on or off before it counts as failed"
    )
    repair_after: Seconds = Field(
        120.0, description="how long a fault of a cluster's hardware has lasted when its repair is due"
    )
    repair_host_after: Seconds = Field(
        3600.0,
        description="the same for a failed host of a Poplar server, whose disk its repair loses: it may work again"
        " before",
    )
    repair_limit: int = Field(
        5, ge=0, description="repairs of faults in a region that begin per hour without a request; 0: none"
    )
    repair_postponement: Seconds = Field(
        7 * 86_400.0, description="how long after its announcement the repair of a fault can be put off"
    )
    maintenance_notice: Seconds = Field(
        72 * 3600.0, description="how long before planned maintenance the customers who hold the hardware must know"
    )
    drain_seconds: Seconds = 20.0

    webhook_slots: int = Field(
        8, ge=1, le=10_000, description="webhook endpoints that one worker sends to at the same time"
    )
    webhook_interval: Seconds = Field(1.0, description="how often the event log is read for webhooks")
    webhook_private_addresses: bool = Field(
        False, description="allow webhooks over plain HTTP and to private addresses; for tests and closed networks"
    )
    smtp_host: Annotated[str, AfterValidator(visible)] | None = Field(
        None, min_length=1, description="SMTP server that sends e-mails; unset: none are sent"
    )
    smtp_port: int = Field(587, ge=1, le=65535)
    smtp_tls: Literal["starttls", "tls", "none"] = Field(
        "starttls", description="`tls` from the first byte on, which is usual on port 465"
    )
    smtp_ca_file: Path | None = Field(None, description="certificates of its authority, PEM; unset: the system's")
    smtp_user: str | None = Field(None, min_length=1, description="unset: without authentication")
    smtp_password: SecretStr | None = None
    smtp_password_file: Path | None = Field(None, description="file with the password, instead of the former")
    smtp_from: Annotated[str, Field(pattern=r"^[^@\s<>]+@[^@\s<>]+$")] | None = Field(
        None, description="sender's address of e-mails"
    )
    smtp_timeout: Seconds = Field(20.0, description="one e-mail to the server; shorter than a lease")
    public_url: Annotated[str, AfterValidator(http_url)] | None = Field(
        None, description="address at which people reach the service, in all links; unset: e-mails of events have none"
    )
    allowed_hosts: Annotated[frozenset[str], NoDecode, BeforeValidator(between_commas), AfterValidator(lower_case)] = (
        Field(
            LOOPBACK,
            description="hosts of requests that links lead to without public_url, separated by commas, without ports",
        )
    )
    stripe_secret_key: SecretStr | None = Field(
        None, description="secret key of Stripe, which collects top-ups; unset: an operator records them"
    )
    stripe_secret_key_file: Path | None = Field(None, description="file with the key, instead of the former")
    stripe_url: Annotated[str, AfterValidator(http_url)] = Field(
        "https://api.stripe.com", description="Stripe's API, or a proxy before it"
    )
    billing_starts_at: Literal["ready", "requested"] = "ready"
    prepaid_hold_minutes: int = Field(
        60, ge=1, le=10_080, description="minutes of a new cluster for which a prepaid account must have funds"
    )
    currency: Annotated[str, AfterValidator(currency_code)] = "EUR"
    provider_name: str = Field("IPU Cloud", min_length=1, description="the provider's name in cost exports")
    export_private_endpoints: bool = Field(
        False, description="deliver exports also to private addresses and over plain HTTP; for a self-hosted store"
    )
    export_ports: Annotated[str, AfterValidator(ports)] = Field(
        "443", description="ports of public endpoints that exports are delivered to, separated by commas"
    )
    log_format: Literal["json", "console"] = "json"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 (named by pydantic-settings)
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then variables. The other sources look for every variable again, in files that there are not."""
        return init_settings, env_settings

    @model_validator(mode="before")
    @classmethod
    def _read_secrets(cls, given: dict[str, Any]) -> dict[str, Any]:
        return read_given(given, at_start=("secrets_key",), current=("site_token", "vipu_access_key"))

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
