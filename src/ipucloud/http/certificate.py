"""The certificate that the public listener shows."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path

import structlog

from ipucloud.http.metrics import CERTIFICATE

log = structlog.get_logger(__name__)


class CertificateError(Exception):
    """The files cannot be used; the sentence says why."""


class Certificate:
    """A certificate chain and its private key, PEM files that are read again when they were replaced.

    `context` serves new connections with the newest usable pair.
    """

    def __init__(self, chain: Path, key: Path) -> None:
        """Raises CertificateError when the files are no pair that can be used."""
        self._files = (chain, key)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.set_alpn_protocols(["http/1.1"])
        self._stamp = self._read()

    def refresh(self) -> None:
        """Use the files if they have changed. While they are no pair, the one before stays in use, which is logged."""
        try:
            if self._file_stamp() != self._stamp:
                self._stamp = self._read()
                log.info("certificate_read", valid_until=self.valid_until.isoformat())
        except (OSError, CertificateError) as error:
            log.warning("certificate_not_read", error=str(error), valid_until=self.valid_until.isoformat())

    def _read(self) -> object:
        from cryptography import x509  # with the first certificate: a process behind a proxy has none

        chain, key = self._files
        try:
            stamp = self._file_stamp()
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(chain, key, password=_no_password)
            [leaf, *_] = x509.load_pem_x509_certificates(chain.read_bytes())
            self.context.load_cert_chain(chain, key, password=_no_password)
        except ssl.SSLError as error:
            mismatch = error.reason == "KEY_VALUES_MISMATCH"
            why = "they do not belong together" if mismatch else f"they cannot be read as PEM ({error.reason})"
            raise CertificateError(f"{chain} and {key}: {why}") from error
        except OSError as error:
            raise CertificateError(f"{error.filename}: {error.strerror}") from error
        except ValueError as error:
            raise CertificateError(f"{chain} or {key}: {error}") from error
        self.valid_until = leaf.not_valid_after_utc
        CERTIFICATE.set(self.valid_until.timestamp())
        if self.valid_until <= datetime.now(UTC):
            log.warning("certificate_expired", valid_until=self.valid_until.isoformat())
        return stamp

    def _file_stamp(self) -> object:
        return [(each.st_ino, each.st_size, each.st_mtime_ns) for each in (path.stat() for path in self._files)]


def _no_password() -> str:
    """Instead of asking at the terminal. Raises ValueError."""
    raise ValueError("the private key is encrypted; store it without a password")
