"""Certificates of a TLS server that is only a test's: signed by an authority of its own.

They hold for clients that check them by RFC 5280 to the letter, as Python 3.13 does (`ssl.VERIFY_X509_STRICT`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from ipucloud.laboratory.simulator.tls import SIGNS_CERTIFICATES


@dataclass(frozen=True)
class Certified:
    """A name, its certificate and key, and the authority that clients are to trust: files in PEM."""

    name: str
    certificate: Path
    key: Path
    authority: Path


def certify(name: str, folder: Path) -> Certified:
    """Make the files, which hold for a day."""
    root, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    certified = Certified(name, folder / "server.pem", folder / "server.key", folder / "authority.pem")
    subject = _named("authority of a test")
    authority = (
        _certificate(subject, subject, root.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(SIGNS_CERTIFICATES, critical=True)
    )
    server = (
        _certificate(_named(name), subject, own.public_key())
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(root.public_key()), critical=False)
    )
    certified.authority.write_bytes(authority.sign(root, SHA256()).public_bytes(Encoding.PEM))
    certified.certificate.write_bytes(server.sign(root, SHA256()).public_bytes(Encoding.PEM))
    certified.key.write_bytes(own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return certified


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _certificate(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )
