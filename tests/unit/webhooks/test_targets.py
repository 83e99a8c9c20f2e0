"""Where a customer may have us connect: URLs as they are written, and addresses as names turn out to have them."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from ipaddress import ip_address

import pytest

from ipucloud.contract.webhooks import Failure
from ipucloud.egress.guard import is_public
from ipucloud.egress.urls import UrlRefused, target_of
from ipucloud.webhooks.schedule import JITTER, PAUSES, TRIES, pause_after, retry_seconds
from ipucloud.webhooks.sender import Sender
from tests.support.receiver import receiving

FORBIDDEN = [
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1"),  # noqa: S104  # refused
    *("127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.8"),
    *("192.0.0.170", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.31.196.1", "192.52.193.1", "192.175.48.1"),
    *("198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1"),
    *("255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "::ffff:8.8.8.8"),
    *("64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "100::1", "2001::1", "2001:10::1", "2001:20::1"),
    *("2001:db8::1", "2002:7f00:1::1", "2002:a9fe:a9fe::1", "2620:4f:8000::1", "3fff::1", "5f00::1", "fc00::1"),
    *("fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "2001:0:7f00:1::1", "::ffff:0:127.0.0.1", "fe80::1%lo"),
]
PUBLIC = [
    *("1.1.1.1", "8.8.8.8", "93.184.216.34", "99.255.255.255", "172.32.0.1", "192.167.1.1", "2606:4700::1111"),
    "2a00:1450::1",
]
URLS = [
    *("", "hooks.example.com", "ftp://hooks.example.com/", "http://hooks.example.com/", "https://"),
    *("https://localhost/", "https://user@hooks.example.com/", "https://user:secret@hooks.example.com/"),
    *("https://hooks.example.com/#part", "https://hooks.example.com:8090/", "https://hooks.example.com:22/"),
    *("https://hooks.example.com:0/", "https://hooks.example.com:99999/", "https://hooks.example.com:x/"),
    *("https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/", "https://127.1/", "https://0/"),
    *("https://①②⑦.⓪.⓪.①/", "https://127.0.0.1/", "https://[::1]/", "https://[::ffff:169.254.169.254]/"),
    *("https://[fe80::1%25lo]/", "https://169.254.169.254/latest/meta-data/", "https://hooks.example.com./"),
    *("https://hooks..example.com/", "https://hooks_.example.com/", "https://exam ple.com/"),
    *("https://hooks.example.com\\@127.0.0.1/", "https://hooks.example.com/\r\nx: y"),
    *("https://hooks.example.com/" + "x" * 2048, "https://1.2.3.4.5/"),
]


@pytest.mark.parametrize("text", FORBIDDEN)
def test_addresses_that_are_not_everybodys_are_refused(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_addresses_of_the_internet_are_taken(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize("url", URLS)
def test_urls_that_are_not_plainly_somewhere_else_are_refused(url: str) -> None:
    with pytest.raises(UrlRefused):
        target_of(url, private=False)


def test_a_url_is_taken_apart() -> None:
    target = target_of("https://Hooks.Example.com:8443/a/b?c=d", private=False)
    assert (target.host, target.port, target.path) == ("hooks.example.com", 8443, "/a/b?c=d")
    assert target.authority == "hooks.example.com:8443"
    assert target_of("https://[2606:4700::1111]", private=False).authority == "[2606:4700::1111]"


def test_ten_tries_take_seventy_five_hours() -> None:
    assert (TRIES, 75 * 3600 < sum(PAUSES) < 76 * 3600) == (10, True)
    draw = random.Random(1)  # noqa: S311  # repeatable, not secret
    for tries, pause in enumerate(PAUSES, start=1):
        drawn = [pause_after(tries, draw) or 0.0 for _ in range(100)]
        assert len(set(drawn)) > 1
        assert all(abs(each - pause) <= pause * JITTER for each in drawn)
    assert pause_after(TRIES, draw) is None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, 0),
        ("120", 120),
        ("Fri, 20 Nov 2026 12:02:00 GMT", 120),
        ("Fri, 20 Nov 2026 11:00:00 GMT", 0),
        ("Fri, 20 Nov 2026 12:02:00", 0),
        ("-5", 0),
        ("soon", 0),
        ("١٢٠", 0),
        ("9" * 400, 0),
        ("Fri, 31 Dec 99999999999999999999 23:59:59 GMT", 0),
        ("Fri, 31 Dec 2026 99999999999999999999:59:59 GMT", 0),
        ("Fri, 31 Dec 2026 23:59:59 +99999999999999999999", 0),
    ],
)
def test_who_is_busy_is_left_alone_as_long_as_it_asks_and_a_day_at_most(header: str | None, seconds: int) -> None:
    delay = retry_seconds(header, datetime(2026, 11, 20, 12, tzinfo=UTC))
    assert delay == seconds
    draw = random.Random(1)  # noqa: S311  # repeatable, not secret
    assert pause_after(1, draw, delay) == (seconds or pytest.approx(PAUSES[0], rel=JITTER))
    assert pause_after(1, draw, 1e9) == PAUSES[-1]


@pytest.mark.anyio
async def test_nothing_connects_to_a_forbidden_address_whatever_a_name_leads_to() -> None:
    """A name may have many addresses, and others at the next question: each is judged, and it is asked once."""
    answers: list[list[str]] = []

    async def resolve(host: str, port: int) -> Sequence[str]:
        return answers.pop(0)

    async with receiving() as receiver:
        sender = Sender(private=False, seconds=30.0, resolve=resolve)
        judged = [[text] for text in FORBIDDEN] + [["93.184.216.34", text] for text in FORBIDDEN]
        for first in (*judged, [], ["no address"], ["127.0.0.1\n"]):
            answers[:] = [first, ["127.0.0.1"]]
            delivery = await sender.send("https://hooks.example.com/", b"{}", {})
            assert (delivery.failure, len(answers)) == (Failure.REFUSED_ADDRESS, 1)
        assert receiver.connections == 0


@pytest.mark.anyio
async def test_an_address_that_does_not_answer_gives_way_to_the_next() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.2", "127.0.0.1"]

    async with receiving() as receiver:
        sender = Sender(private=True, seconds=60.0, resolve=resolve)
        assert (await sender.send(f"http://receiver:{receiver.port}/hook", b"{}", {})).failure is None


@pytest.mark.anyio
async def test_every_way_to_answer_is_judged() -> None:
    async with receiving() as receiver, receiving() as elsewhere:
        sender = Sender(private=True, seconds=30.0)
        for status, failure in (
            (200, None),
            (204, None),
            (299, None),
            (301, Failure.REDIRECT),
            (307, Failure.REDIRECT),
            (400, Failure.STATUS),
            (410, Failure.GONE),
            (429, Failure.STATUS),
            (503, Failure.STATUS),
        ):
            receiver.status, receiver.location = status, elsewhere.url
            sent = await sender.send(receiver.url, b"{}", {})
            assert (sent.failure, sent.status) == (failure, status)
        assert elsewhere.connections == 0
        receiver.status, receiver.endless = 200, True
        assert (await sender.send(receiver.url, b"{}", {})).failure is None
        receiver.stalled = True
        assert (await Sender(private=True, seconds=0.2).send(receiver.url, b"{}", {})).failure is Failure.TIMEOUT
    assert receiver.sent < 50_000_000
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
        assert (await sender.send(url, b"{}", {})).failure is Failure.UNREACHABLE


@pytest.mark.anyio
async def test_a_server_without_tls_receives_nothing() -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(65_536))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        writer.close()

    heard: list[bytes] = []
    async with await asyncio.start_server(speak, "127.0.0.1", 0) as server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        sent = await Sender(private=True, seconds=60.0).send(url, b"the body", {})
    assert sent.failure is Failure.TLS
    assert b"the body" not in b"".join(heard)


@pytest.mark.anyio
async def test_a_body_is_sent_as_it_is_and_with_its_host() -> None:
    async with receiving() as receiver:
        body = '{"ü": 1}'.encode()
        assert (await Sender(private=True).send(receiver.url, body, {"webhook-id": "msg_1"})).failure is None
        (got,) = receiver.got
        assert (got.path, got.body, got.headers["webhook-id"]) == ("/hook", body, "msg_1")
        assert got.headers["host"] == f"127.0.0.1:{receiver.port}"
