"""The certificate authority of one V-IPU controller: for its listeners, and for who administers it.

`<folder>/<controller>.pem` holds the authority with its key, `<clients>/<controller>.pem` the certificate and key with
which the control plane calls the administration service; each is replaced as a whole, and readable by this user alone.
The keys of listeners are in memory only.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

from ipucloud.laboratory.simulator.store import replace_file
from ipucloud.vipu_cli.endpoint import Security

AUTHORITY_LIFE = 3650 * 86_400.0
LIFE = 30 * 86_400.0
"""Seconds that a certificate of a listener or a client is valid. It is renewed after half of them."""
CLOCKS_APART = timedelta(minutes=5)
"""How far behind the clock of who checks a certificate may be."""
CONTROL_PLANE = "ipucloud"
"""Name in the control plane's client certificate."""
PRIVATE = 0o600
SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)
"""What the key of an authority is for: RFC 5280 asks an authority's certificate to say it."""
SHOWN_NAME = 23
"""Characters of a controller's name in the subject of its authority, which has 64."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class _Signer:
    """What the authority signs with. `previous`: this authority as the one before certified it, and the one before.

    Who trusts only the authority before trusts a listener by the first of them. Clients that the authority before
    certified stay welcome.
    """

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate
    previous: tuple[x509.Certificate, ...] = ()

    def pem(self) -> bytes:
        return _key_pem(self.key) + b"".join(map(_pem, (self.certificate, *self.previous)))


class Authority:
    """The authority of the controller `name`. Its first start makes it.

    `life`: seconds that its certificates are valid, by the system's clock, as for everybody who checks them.
    """

    def __init__(self, folder: Path, name: str, clients: Path, *, life: float = LIFE, fsync: bool = True) -> None:
        self.name = name
        self.life = life
        self.generation = 0
        self._path, self._client_path = folder / f"{name}.pem", clients / f"{name}.pem"
        self._fsync = fsync
        self._renewing = threading.Lock()
        for each in (folder, clients):
            each.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self._path.exists():
            self._signer = _read(self._path.read_bytes())
        else:
            self._keep(_new_signer(name))
        self.renew_client()

    @property
    def certificate(self) -> str:
        """The authority's certificate, PEM: what a caller has to trust."""
        return _pem(self._signer.certificate).decode()

    def server(self, *hosts: str, mutual: bool = False) -> grpc.ServerCredentials:
        """Credentials of one listener, reached by these names and addresses; they renew themselves.

        `mutual`: it answers clients with a certificate of this authority only.
        """
        listener = _Listener(self, hosts, mutual=mutual)
        # The stubs do not know that None is an answer of the fetcher: what is in use stays.
        return grpc.dynamic_ssl_server_credentials(listener.configuration(), listener.renewed, mutual)  # type: ignore[arg-type]

    def client(self, name: str) -> Pair:
        """A new client certificate, of an administrator."""
        return self._issue(name, ExtendedKeyUsageOID.CLIENT_AUTH)

    def listener(self, hosts: Sequence[str]) -> Pair:
        """A new certificate for a listener, with what leads from it to the authority before."""
        pair = self._issue(self.name, ExtendedKeyUsageOID.SERVER_AUTH, hosts)
        return Pair(pair.certificate + b"".join(map(_pem, self._signer.previous[:1])), pair.key)

    @property
    def security(self) -> Security:
        """What programs of this site call the controller with."""
        own = self._client_path.read_bytes()
        return Security(self.certificate.encode(), (own, own))

    @property
    def client_roots(self) -> bytes:
        """The authorities whose client certificates are accepted, PEM."""
        return b"".join(map(_pem, (self._signer.certificate, *self._signer.previous[1:])))

    def rotate(self) -> None:
        """New certificates and keys for all listeners, from the next connection on, and for the control plane."""
        self.generation += 1
        with self._renewing:
            self._keep_client()

    def renew_client(self) -> None:
        """Give the control plane a new certificate when half of the life of the one before has passed."""
        with self._renewing:
            if not self._client_is_fresh():
                self._keep_client()

    def replace(self) -> None:
        """A new authority. Callers that trust the one before, or have a certificate of it, are served as well."""
        before, new = self._signer, _new_signer(self.name)
        crossed = _sign(
            _builder(new.certificate.subject, new.key.public_key(), AUTHORITY_LIFE, authority=True),
            before.key,
            before.certificate,
        )
        self._keep(_Signer(new.key, new.certificate, (crossed, before.certificate)))
        self.rotate()

    def _issue(self, name: str, usage: ObjectIdentifier, hosts: Sequence[str] = ()) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name(name), key.public_key(), self.life, authority=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if hosts:
            names = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
            builder = builder.add_extension(names, critical=False)
        return Pair(_pem(_sign(builder, self._signer.key, self._signer.certificate)), _key_pem(key))

    def _keep(self, signer: _Signer) -> None:
        replace_file(self._path, signer.pem(), fsync=self._fsync, mode=PRIVATE)
        self._signer = signer

    def _keep_client(self) -> None:
        pair = self.client(CONTROL_PLANE)
        replace_file(self._client_path, pair.certificate + pair.key, fsync=self._fsync, mode=PRIVATE)

    def _client_is_fresh(self) -> bool:
        if not self._client_path.exists():
            return False
        kept = x509.load_pem_x509_certificate(self._client_path.read_bytes())
        remaining = kept.not_valid_after_utc - datetime.now(UTC)
        return kept.issuer == self._signer.certificate.subject and remaining.total_seconds() > self.life / 2


class _Listener:
    """The certificate of one listener. gRPC asks for another at each new connection, on a thread of its own."""

    def __init__(self, authority: Authority, hosts: Sequence[str], *, mutual: bool) -> None:
        self._authority = authority
        self._hosts = hosts
        self._mutual = mutual
        self._generation = -1
        self._renew_at = 0.0

    def configuration(self) -> grpc.ServerCertificateConfiguration:
        authority = self._authority
        authority.renew_client()
        self._generation = authority.generation
        self._renew_at = time.time() + abs(authority.life) / 2
        pair = authority.listener(self._hosts)
        roots = authority.client_roots if self._mutual else None
        return grpc.ssl_server_certificate_configuration([(pair.key, pair.certificate)], roots)

    def renewed(self) -> grpc.ServerCertificateConfiguration | None:
        """None: the one in use stays."""
        if self._generation == self._authority.generation and time.time() < self._renew_at:
            return None
        return self.configuration()


def _new_signer(name: str) -> _Signer:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _name(f"V-IPU {name[:SHOWN_NAME]}, since {datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}")
    builder = _builder(subject, key.public_key(), AUTHORITY_LIFE, authority=True)
    signed = builder.issuer_name(subject).sign(key, SHA256())
    return _Signer(key, signed)


def _builder(
    subject: x509.Name, key: ec.EllipticCurvePublicKey, life: float, *, authority: bool
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    ends = now + timedelta(seconds=life)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(now, ends) - CLOCKS_APART)
        .not_valid_after(ends)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )
    return builder.add_extension(SIGNS_CERTIFICATES, critical=True) if authority else builder


def _sign(
    builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey, issuer: x509.Certificate
) -> x509.Certificate:
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())
    return builder.issuer_name(issuer.subject).add_extension(identifier, critical=False).sign(key, SHA256())


def _read(pem: bytes) -> _Signer:
    key = load_pem_private_key(pem, None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError("the authority's key is not of an elliptic curve")
    certificate, *previous = x509.load_pem_x509_certificates(pem)
    return _Signer(key, certificate, tuple(previous))


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
