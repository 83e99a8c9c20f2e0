"""SSH public keys: parsing, validation and re-serialisation.

A customer's input is never stored or written to a server: an `authorized_keys` line may carry options, and a stray line
break a second key. Only the re-serialised key leaves this module, without its comment.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import unicodedata
from dataclasses import dataclass

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_ssh_public_key

from ipucloud.contract.ssh_keys import LONGEST_KEY

RSA_BITS = range(3072, 16_385)
"""NIST SP 800-57 wants 3,072 bits beyond 2030; OpenSSH refuses more than 16,384."""

RSA_EXPONENTS = range(65_537, 1 << 256, 2)
"""Source: FIPS 186-5, appendix A.1.1."""

_SMALL_PRIMES = math.prod(n for n in range(2, 1000) if all(n % d for d in range(2, math.isqrt(n) + 1)))

TYPES = frozenset(
    {
        "ssh-ed25519",
        "sk-ssh-ed25519@openssh.com",
        "ecdsa-sha2-nistp256",
        "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp521",
        "sk-ecdsa-sha2-nistp256@openssh.com",
        "ssh-rsa",
    }
)

SMALL_ORDER_Y = frozenset(
    int.from_bytes(bytes.fromhex(encoded), "little")
    for encoded in (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    )
)
"""The y coordinates of Ed25519 points of order 1, 2, 4 and 8 in all encodings. Signatures under such a key need no
private key, and OpenSSH accepts them."""

_PRIVATE = re.compile(r"PRIVATE KEY|PuTTY-User-Key-File|b3BlbnNzaC1rZXktdjE")
_TYPE_FIRST = re.compile(r"(ssh|ecdsa|sk|x509v3|webauthn)-[a-z0-9@.-]+", re.ASCII | re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}", re.ASCII)
_APPLICATION = re.compile(rb"ssh:[\x21-\x7e]{0,64}")
_COMMENT = re.compile(r"[A-Za-z0-9._@-]{0,64}", re.ASCII)


class SshKeyError(ValueError):
    """The key is rejected: a stable `code`, and a `sentence` that says what to do and repeats none of the input."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class SshPublicKey:
    """An accepted public key: `text` is `type base64`; `fingerprint` is OpenSSH's `SHA256:…`."""

    type: str
    text: str
    fingerprint: str

    def line(self, comment: str = "") -> str:
        """The `authorized_keys` line with a comment of our own. Raises ValueError for an invalid comment."""
        if not _COMMENT.fullmatch(comment):
            raise ValueError("a key's comment is at most 64 letters, digits and . _ @ -")
        return f"{self.text} {comment}".rstrip()


def parse_public_key(text: str) -> SshPublicKey:
    """Read one OpenSSH public key line; the comment is dropped. Raises `SshKeyError`."""
    key_type, encoded = _fields(_single_line(text))
    data = _decode(encoded)
    canonical = f"{key_type} {base64.b64encode(data).decode('ascii')}"
    _judge(canonical)
    import asyncssh

    try:
        key = asyncssh.import_public_key(canonical)
    except (asyncssh.KeyImportError, ValueError):
        raise _malformed() from None
    _judge_application(key_type, key.public_data)
    serialised = base64.b64encode(key.public_data).decode("ascii")
    return SshPublicKey(key_type, f"{key_type} {serialised}", key.get_fingerprint("sha256"))


def _single_line(text: str) -> str:
    if _PRIVATE.search(text):
        raise SshKeyError(
            "ssh_key_private",
            "This is a private key. Treat it as disclosed: create a new pair, and send only the line of its .pub file.",
        )
    if len(text) > LONGEST_KEY:
        raise SshKeyError("ssh_key_too_long", f"A public key is one line of at most {LONGEST_KEY} characters.")
    line = text.strip(" \t\r\n")
    if not line:
        raise SshKeyError("ssh_key_empty", "Send the one line of your public key file, such as ~/.ssh/id_ed25519.pub.")
    if len(line.splitlines()) > 1:
        raise SshKeyError("ssh_key_several_lines", "Send one public key on one line; add further keys one by one.")
    if any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in line.replace("\t", " ")):
        raise SshKeyError("ssh_key_control_character", "The line holds control characters; copy the key again.")
    return line


def _fields(line: str) -> tuple[str, str]:
    """The key type and the base64 text."""
    fields = re.split(r"[ \t]+", line)
    if fields[0] in TYPES:
        if len(fields) < 2:
            raise _malformed()
        return fields[0], fields[1]
    if any(field in TYPES for field in fields[1:]):
        raise SshKeyError(
            "ssh_key_options", "Send the key alone: no options, host names or markers in front of the key type."
        )
    if _TYPE_FIRST.fullmatch(fields[0]):
        raise SshKeyError(
            "ssh_key_type_refused",
            "Keys of this type are not accepted. Use Ed25519 (ssh-keygen -t ed25519), ECDSA on a NIST curve, "
            "RSA of at least 3072 bits, or a security key; certificates and DSA are refused.",
        )
    raise _malformed()


def _decode(encoded: str) -> bytes:
    if not _BASE64.fullmatch(encoded):
        raise _malformed()
    try:
        return base64.b64decode(encoded, validate=True)
    except binascii.Error:
        raise _malformed() from None


def _judge(canonical: str) -> None:
    """Check the numbers of the key: on the curve, large enough, of full order."""
    try:
        key = load_ssh_public_key(canonical.encode("ascii"))
    except (ValueError, UnsupportedAlgorithm, NotImplementedError):  # the last for compressed points
        raise _malformed() from None
    if isinstance(key, RSAPublicKey):
        _judge_rsa(key)
    if isinstance(key, Ed25519PublicKey):
        y = int.from_bytes(key.public_bytes_raw(), "little") & ~(1 << 255)
        if y in SMALL_ORDER_Y:
            raise SshKeyError("ssh_key_too_weak", "Anyone could log in with this key; create a new pair.")


def _judge_rsa(key: RSAPublicKey) -> None:
    if key.key_size not in RSA_BITS:
        raise SshKeyError("ssh_key_too_weak", "An RSA key needs 3072 to 16384 bits; Ed25519 is shorter and safer.")
    numbers = key.public_numbers()
    if numbers.e not in RSA_EXPONENTS or math.gcd(numbers.n, _SMALL_PRIMES) != 1:
        raise SshKeyError("ssh_key_too_weak", "The numbers of this RSA key are not safe; create a new pair.")


def _judge_application(key_type: str, data: bytes) -> None:
    if not key_type.startswith("sk-"):
        return
    from asyncssh.packet import SSHPacket

    packet = SSHPacket(data)
    strings = []
    while packet:
        strings.append(packet.get_string())
    if not _APPLICATION.fullmatch(strings[-1]):
        raise _malformed()


def _malformed() -> SshKeyError:
    return SshKeyError(
        "ssh_key_malformed",
        "This is not an OpenSSH public key. It is one line like `ssh-ed25519 AAAA… comment`, found in a .pub file.",
    )
