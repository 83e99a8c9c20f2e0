"""gRPC channels to V-IPU controllers."""

from __future__ import annotations

import grpc

from ipucloud.site.tls import Connection, Secured

_CHANNEL_OPTIONS = (
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    # Every retry is decided here, after reading the state back; the library must not repeat calls itself.
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)


def connected(secured: Secured, name: str, address: str, host: str) -> Connection:
    """A connection to `address` and its port, whose certificate has to be that of `host`."""
    if secured.authority is None:
        channel = grpc.aio.insecure_channel(address, options=_CHANNEL_OPTIONS)
    else:
        own = secured.identity
        key, certificate = (None, None) if own is None else (own.key, own.certificate)
        credentials = grpc.ssl_channel_credentials(secured.authority.encode(), key, certificate)
        announced = () if address.startswith(f"{host}:") else (("grpc.ssl_target_name_override", host),)
        options = (*_CHANNEL_OPTIONS, *announced)
        channel = grpc.aio.secure_channel(address, credentials, options=options)
    return Connection(name, channel, secured.authority is not None, secured.identity is not None)
