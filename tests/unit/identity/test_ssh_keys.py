"""Only the re-serialised key leaves, and what should never log in is refused by name."""

from __future__ import annotations

import base64
import subprocess
from itertools import product
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from ipucloud.identity.ssh_keys import SMALL_ORDER_Y, SshKeyError, parse_public_key
from tests.support.machine import Need, needs, program

# Products of Mersenne primes: moduli without a search for primes.
RSA_3482 = (2**1279 - 1) * (2**2203 - 1)
RSA_1886 = (2**607 - 1) * (2**1279 - 1)
P = 2**255 - 19


def string(data: bytes) -> bytes:
    return len(data).to_bytes(4) + data


def number(value: int) -> bytes:
    """An SSH mpint of a positive integer."""
    return string(value.to_bytes(value.bit_length() // 8 + 1))


def line(key_type: str, *parts: bytes) -> str:
    return f"{key_type} {base64.b64encode(string(key_type.encode()) + b''.join(parts)).decode()}"


def point_of(curve: ec.EllipticCurve) -> bytes:
    public = ec.derive_private_key(7, curve).public_key()
    return public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


PRIVATE = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
POINT = PRIVATE.public_key().public_bytes_raw()
P256 = point_of(ec.SECP256R1())
ED25519 = line("ssh-ed25519", string(POINT))
SK_ED25519 = line("sk-ssh-ed25519@openssh.com", string(POINT), string(b"ssh:"))
SK_ECDSA = line("sk-ecdsa-sha2-nistp256@openssh.com", string(b"nistp256"), string(P256), string(b"ssh:work"))
RSA = line("ssh-rsa", number(65537), number(RSA_3482))
ECDSA = {
    curve: line(f"ecdsa-sha2-{curve}", string(curve.encode()), string(point_of(kind)))
    for curve, kind in (("nistp256", ec.SECP256R1()), ("nistp384", ec.SECP384R1()), ("nistp521", ec.SECP521R1()))
}
ACCEPTED = [ED25519, SK_ED25519, SK_ECDSA, RSA, *ECDSA.values()]


def rsa(exponent: int, modulus: int) -> str:
    return line("ssh-rsa", number(exponent), number(modulus))


def p256(point: bytes, curve: bytes = b"nistp256") -> str:
    return line("ecdsa-sha2-nistp256", string(curve), string(point))


@pytest.mark.parametrize("text", ACCEPTED, ids=lambda text: str(text).split()[0])
def test_good_keys_come_out_as_type_and_base64(text: str) -> None:
    key = parse_public_key(f"  {text}\tme@laptop my own = key é\r\n\n \n")
    assert key.text == text
    assert key.type == text.split(maxsplit=1)[0]
    assert key.line() == text
    assert key.line("laptop_2@a.b") == f"{text} laptop_2@a.b"


@needs(Need.OPENSSH)
def test_openssh_reads_exactly_the_keys_that_were_written(tmp_path: Path) -> None:
    keys = [parse_public_key(text) for text in ACCEPTED]
    written = tmp_path / "authorized_keys"
    written.write_text("".join(key.line("from-the-panel") + "\n" for key in keys))
    shown = subprocess.run(
        [program("ssh-keygen"), "-lf", str(written)], capture_output=True, text=True, check=True, timeout=60
    ).stdout.splitlines()
    assert [row.split()[1] for row in shown] == [key.fingerprint for key in keys]
    assert all(row.split()[2] == "from-the-panel" for row in shown)


PEM = PRIVATE.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
OPENSSH_PRIVATE = PRIVATE.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
SWAPPED = f"ssh-rsa {ED25519.split()[1]}"

ATTACKS = {
    "second key after a line break": (f'{ED25519} me\ncommand="id" {ED25519}', "ssh_key_several_lines"),
    "second key after a carriage return": (f"{ED25519} me\r{ED25519}", "ssh_key_several_lines"),
    "second key after a Unicode line separator": (f"{ED25519} me\u2028{ED25519}", "ssh_key_several_lines"),
    "second key after a next-line character": (f"{ED25519} me\x85{ED25519}", "ssh_key_several_lines"),
    "two keys": (f"{ED25519}\n{RSA}\n", "ssh_key_several_lines"),
    "comment line before the key": (f"# mine\n{ED25519}", "ssh_key_several_lines"),
    "NUL in the comment": (f"{ED25519} me\x00you", "ssh_key_control_character"),
    "escape sequence in the comment": (f"{ED25519} \x1b[2Jme", "ssh_key_control_character"),
    "lone surrogate in the comment": (f"{ED25519} \udc80", "ssh_key_control_character"),
    "forced command": (f'command="id" {ED25519}', "ssh_key_options"),
    "options with spaces": (f'no-pty,command="sh -c id" {ED25519}', "ssh_key_options"),
    "certificate authority marker": (f"cert-authority {ED25519}", "ssh_key_options"),
    "line of known_hosts": (f"example.com {ED25519}", "ssh_key_options"),
    "private key, OpenSSH": (OPENSSH_PRIVATE, "ssh_key_private"),
    "private key, PKCS#8": (PEM, "ssh_key_private"),
    "private key without its armour": ("".join(OPENSSH_PRIVATE.splitlines()[1:-1]), "ssh_key_private"),
    "private key, PuTTY": ("PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none", "ssh_key_private"),
    "private key after a public one": (f"{ED25519}\n{OPENSSH_PRIVATE}", "ssh_key_private"),
    "DSA": (line("ssh-dss", number(23), number(11), number(4), number(8)), "ssh_key_type_refused"),
    "certificate": (f"ssh-ed25519-cert-v01@openssh.com {ED25519.split()[1]}", "ssh_key_type_refused"),
    "unknown type": (line("ssh-ed448", string(bytes(57))), "ssh_key_type_refused"),
    "RSA of 1886 bits": (rsa(65537, RSA_1886), "ssh_key_too_weak"),
    "RSA of 20000 bits": (rsa(65537, (1 << 20_000) | 1), "ssh_key_too_weak"),
    "RSA with exponent 3": (rsa(3, RSA_3482), "ssh_key_too_weak"),
    "RSA with an even modulus": (rsa(65537, RSA_3482 - 1), "ssh_key_too_weak"),
    "RSA with a small factor": (rsa(65537, RSA_3482 * 7), "ssh_key_too_weak"),
    "RSA with exponent 1": (rsa(1, RSA_3482), "ssh_key_malformed"),
    "RSA with a negative modulus": (line("ssh-rsa", number(65537), string(b"\xff" * 400)), "ssh_key_malformed"),
    "all-zero Ed25519 point": (line("ssh-ed25519", string(bytes(32))), "ssh_key_too_weak"),
    "all-zero point on a security key": (
        line("sk-ssh-ed25519@openssh.com", string(bytes(32)), string(b"ssh:")),
        "ssh_key_too_weak",
    ),
    "short Ed25519 point": (line("ssh-ed25519", string(POINT[:31])), "ssh_key_malformed"),
    "all-zero ECDSA point": (p256(b"\x04" + bytes(64)), "ssh_key_malformed"),
    "ECDSA point at infinity": (p256(b"\x00"), "ssh_key_malformed"),
    "ECDSA point off the curve": (p256(P256[:-1] + bytes([P256[-1] ^ 1])), "ssh_key_malformed"),
    "compressed ECDSA point": (p256(bytes([2 + P256[-1] % 2]) + P256[1:33]), "ssh_key_malformed"),
    "another curve inside": (p256(point_of(ec.SECP384R1()), b"nistp384"), "ssh_key_malformed"),
    "another type inside": (SWAPPED, "ssh_key_malformed"),
    "bytes after the key": (line("ssh-ed25519", string(POINT), b"x"), "ssh_key_malformed"),
    "length beyond the end": (line("ssh-ed25519", b"\xff\xff\xff\xff" + POINT), "ssh_key_malformed"),
    "security key of a web site": (
        line("sk-ssh-ed25519@openssh.com", string(POINT), string(b"https://bank.example")),
        "ssh_key_malformed",
    ),
    "NUL in a security key's application": (
        line("sk-ssh-ed25519@openssh.com", string(POINT), string(b"ssh:\x00")),
        "ssh_key_malformed",
    ),
    "broken base64": (ED25519[:-1] + "*", "ssh_key_malformed"),
    "base64 cut short": (ED25519[:-3], "ssh_key_malformed"),
    "type without a key": ("ssh-ed25519", "ssh_key_malformed"),
    "no key at all": ("please let me in", "ssh_key_malformed"),
    "comment of 100 kB": (f"{ED25519} {'x' * 100_000}", "ssh_key_too_long"),
    "nothing": (" \t\n", "ssh_key_empty"),
}


@pytest.mark.parametrize(("text", "code"), ATTACKS.values(), ids=ATTACKS.keys())
def test_attacks_and_mistakes_are_refused_by_name_without_an_echo(text: str, code: str) -> None:
    with pytest.raises(SshKeyError) as refused:
        parse_public_key(text)
    assert refused.value.code == code
    assert refused.value.sentence.endswith((".", "refused."))
    words = {word for word in text.split() if len(word) > 12}
    assert not any(word in str(refused.value) for word in words)
    assert refused.value.__cause__ is None


def test_a_number_written_with_leading_zeros_comes_out_canonical() -> None:
    padded = RSA_3482.to_bytes(500)
    key = parse_public_key(line("ssh-rsa", string(b"\x00\x00\x01\x00\x01"), string(padded)))
    assert key.text == RSA


@pytest.mark.parametrize("comment", ["a b", 'x" command="id', "a\nb", "é", "x" * 65, "a\t"])
def test_our_own_comment_cannot_carry_an_option(comment: str) -> None:
    with pytest.raises(ValueError, match="comment"):
        parse_public_key(ED25519).line(comment)


def order_divides_eight(y: int) -> bool:
    """Whether the Ed25519 point with this y coordinate has an order of 1, 2, 4 or 8."""
    d = -121665 * pow(121666, -1, P) % P
    square = (y * y - 1) * pow(d * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert (x * x - square) % P == 0, "not a point of the curve"
    for _ in range(3):  # double three times
        cross = d * x * x * y * y % P
        x, y = 2 * x * y * pow(1 + cross, -1, P) % P, (y * y + x * x) * pow(1 - cross, -1, P) % P
    return (x, y) == (0, 1)


def test_the_refused_small_order_points_are_all_there_are() -> None:
    assert all(order_divides_eight(y % P) for y in SMALL_ORDER_Y)
    # Eight points share five y coordinates, of which 0 and 1 have a second encoding below 2^255.
    assert len({y % P for y in SMALL_ORDER_Y}) == 5
    assert {y for y in SMALL_ORDER_Y if y >= P} == {P, P + 1}


@pytest.mark.parametrize(("y", "sign"), list(product(sorted(SMALL_ORDER_Y), (0, 1))))
def test_small_order_points_are_refused_with_either_sign(y: int, sign: int) -> None:
    with pytest.raises(SshKeyError) as refused:
        parse_public_key(line("ssh-ed25519", string((y | sign << 255).to_bytes(32, "little"))))
    assert refused.value.code == "ssh_key_too_weak"


def outcome(text: str) -> str | None:
    try:
        return parse_public_key(text).text
    except SshKeyError:
        return None


@given(st.text())
def test_any_text_is_either_a_key_or_refused(text: str) -> None:
    assert outcome(text) is None
    assert outcome(f"ssh-ed25519 {text}") is None
    assert outcome(f"{ED25519} {text}") in {None, ED25519}


@given(st.sampled_from(ACCEPTED), st.integers(0, 600), st.binary(min_size=0, max_size=6))
def test_a_damaged_key_never_breaks_the_parser(text: str, place: int, patch: bytes) -> None:
    key_type, encoded = text.split()
    data = bytearray(base64.b64decode(encoded))
    data[place % len(data) : place % len(data) + len(patch)] = patch
    damaged = f"{key_type} {base64.b64encode(data).decode()}"
    assert outcome(damaged) in {None, damaged} or key_type == "ssh-rsa"
