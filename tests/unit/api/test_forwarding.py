"""What of a header is sent on to the program of a service, and what of its answer to the caller."""

from __future__ import annotations

from ipucloud.extras.service_proxy.forwarding import HARMLESS, HOP_BY_HOP, Fields, answer_fields, request_fields


def sent(*headers: tuple[bytes, bytes]) -> Fields:
    own = {b"host", b"connection", b"x-forwarded-prefix", b"request-id"}
    fields = request_fields(headers, host="127.0.0.1:8000", prefix="/v1/proxy", request_id="r")
    assert [value for name, value in fields if name in own] == [b"127.0.0.1:8000", b"close", b"/v1/proxy", b"r"]
    return [(name, value) for name, value in fields if name not in own]


def answered(*headers: tuple[bytes, bytes]) -> Fields:
    fields = answer_fields(headers)
    assert fields[-1] == HARMLESS
    return fields[:-1]


def test_credentials_and_what_callers_say_about_the_way_are_not_sent() -> None:
    for name in (b"Authorization", b"cookie", b"Host", b"X-Forwarded-For", b"x-forwarded-prefix", b"Request-Id"):
        assert sent((name, b"x"), (b"accept", b"*/*")) == [(b"accept", b"*/*")]


def test_what_concerns_one_connection_stays_there() -> None:
    for name in HOP_BY_HOP - {b"connection", b"transfer-encoding"}:
        assert sent((name, b"x")) == answered((name, b"x")) == []
    named = ((b"Connection", b"close, X-Hop"), (b"x-hop", b"1"), (b"X-Own", b"2"))
    assert sent(*named) == answered(*named) == [(b"x-own", b"2")]


def test_a_body_has_one_end() -> None:
    both = ((b"Content-Length", b"5"), (b"Transfer-Encoding", b"chunked"))
    assert sent(*both) == [(b"transfer-encoding", b"chunked")]
    assert answered(*both) == []
    assert sent(both[0]) == answered(both[0]) == [(b"content-length", b"5")]
    for status in (204, 304):  # no body follows, so its length is none of this answer's
        assert answer_fields([both[0], (b"etag", b"x")], status) == [(b"etag", b"x"), HARMLESS]
    hiding = ((b"connection", b"content-length"), (b"content-length", b"5"))
    assert sent(*hiding) == answered(*hiding) == [(b"content-length", b"5")]


def test_an_answer_says_nothing_for_the_host() -> None:
    for name in (
        *(b"Set-Cookie", b"Clear-Site-Data", b"Access-Control-Allow-Origin", b"Service-Worker-Allowed", b"Alt-Svc"),
        *(b"Content-Security-Policy", b"Strict-Transport-Security", b"WWW-Authenticate"),
    ):
        assert answered((name, b"x"), (b"Content-Type", b"text/html")) == [(b"content-type", b"text/html")]
