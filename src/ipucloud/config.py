"""Settings: frozen, built once at a process's entry, passed on. A field is `IPUCLOUD_<FIELD>` in the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from ipucloud.kernel.sealing import SealingError, read_keys


class Settings(BaseSettings):
    """How a process of the control plane runs. Durations are seconds."""

    model_config = SettingsConfigDict(env_prefix="IPUCLOUD_", frozen=True, extra="ignore")

    environment: str = Field("dev", pattern=r"^[a-z]{2,8}$", description="the <env> part of tokens")
    data_dir: Path = Field(Path(".ipucloud"), description="where `ipucloud up` keeps its database and its site")
    pg_bindir: Path | None = Field(None, description="PostgreSQL binaries for the embedded server")

    database_url: SecretStr | None = Field(None, description="application's PostgreSQL; unset: the embedded server")
    migration_database_url: SecretStr | None = Field(None, description="owner's PostgreSQL; unset: database_url")
    database_pool_size: int = Field(5, ge=1, le=50)
    database_pool_timeout: float = Field(5.0, gt=0)

    secrets_key: SecretStr | None = Field(
        None, description="what seals customers' secrets: 32 bytes in URL-safe base64; older keys after commas"
    )

    site_url: str | None = Field(None, description="the site's HTTP interface")
    site_token: SecretStr | None = None
    vipu_user: str = Field("ipucloud", description="who sees every allocation at secure V-IPU controllers")
    vipu_access_key: SecretStr | None = Field(None, description="this user's access key")
    site_call_timeout: float = Field(10.0, gt=0, description="one call to the site; shorter than a lease")
    site_calls_per_second: float = Field(1000.0, gt=0, description="of one worker; calls beyond it wait their turn")
    site_poll_interval: float = Field(5.0, gt=0, description="how often a pending step looks again")
    request_life: float = Field(
        120.0, gt=0, description="longest time a request already sent can still take effect at the site"
    )

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    listen_fd: int | None = Field(
        None,
        ge=3,
        description="descriptor of a listening socket, handed down by a supervisor; goes before host and port",
    )
    internal_host: str = Field("127.0.0.1", description="where the internal listeners bind; keep it from customers")
    internal_port: int = Field(8001, ge=0, le=65535, description="/metrics and details; 0: none")
    internal_listen_fd: int | None = Field(None, ge=3, description="the internal listener's, handed down")
    body_limit: int = Field(262_144, ge=1024, description="bytes of a request body")
    rate_limit_per_second: float = Field(50.0, gt=0, description="requests per token or address and process, sustained")
    rate_limit_burst: int = Field(200, ge=1)

    worker_slots: int = Field(32, ge=1, description="clusters one worker reconciles at the same time")
    worker_internal_port: int = Field(8002, ge=0, le=65535)
    lease_seconds: float = Field(30.0, gt=0)
    poll_seconds: float = Field(1.0, gt=0, description="floor of the engine's polling when no wake arrives")
    reap_seconds: float = Field(1.0, gt=0, description="how often a worker looks for leases of dead workers")
    partitions_quiet_interval: float = Field(
        60.0, gt=0, description="how often a cluster's partitions are looked at while nothing changes"
    )
    partitions_change_interval: float = Field(1.0, gt=0, description="the same after a change, or during one")
    step_attempts: int = Field(5, ge=1, description="failures of one step before the operation is undone")
    create_deadline: float = Field(3600.0, gt=0)
    drain_seconds: float = Field(20.0, gt=0)

    webhook_slots: int = Field(8, ge=1, description="end-points of webhooks one worker sends to at the same time")
    webhook_interval: float = Field(1.0, gt=0, description="how often the event log is read for webhooks")
    webhook_private_addresses: bool = Field(
        False, description="let webhooks be plain HTTP and lead to private addresses; for tests and closed networks"
    )
    billing_starts_at: Literal["ready", "requested"] = "ready"
    prepaid_hold_minutes: int = Field(
        60, ge=1, le=10_080, description="minutes of a new cluster that an account which pays ahead must have available"
    )
    currency: str = Field("EUR", pattern=r"^[A-Z]{3}$")
    provider_name: str = Field("IPU Cloud", min_length=1, description="whose service it is, in cost exports")
    export_private_endpoints: bool = Field(
        False, description="deliver exports to private addresses and over plain HTTP too; for a store of one's own"
    )
    log_format: Literal["json", "console"] = "json"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @field_validator("secrets_key")
    @classmethod
    def _is_a_key(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            try:
                read_keys(value.get_secret_value())
            except SealingError as error:
                raise ValueError(str(error)) from None
        return value
