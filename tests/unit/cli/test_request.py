"""`ipucloud request` and `ipucloud token` against a real HTTP server."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.support.scripted import HANG_UP, Reply, Service, problem
from tests.unit.cli.conftest import Run

CLUSTERS = "/v1/projects/demo/clusters"
PROXY = f"{CLUSTERS}/bert/services/chat/proxy/v1/completions"


def test_an_answer_is_printed_as_it_came(run: Run, service: Service) -> None:
    service.on("GET", "/v1/whoami", Reply(raw=b'{"role":"owner"} '))
    ended = run("request", "/v1/whoami")
    assert (ended.status, ended.out, ended.err) == (0, '{"role":"owner"} ', "")
    assert "idempotency-key" not in service.requests[0].headers
    shown = run("request", "GET", "/v1/whoami", "-i", "-H", "X-Trace: 7").out
    assert (shown.startswith("HTTP 200\n"), "content-type: application/json\n" in shown) == (True, True)
    assert shown.endswith('\n\n{"role":"owner"} ')
    assert service.requests[1].headers["x-trace"] == "7"


def test_fields_are_the_body_of_a_post_and_the_query_of_a_get(run: Run, service: Service, tmp_path: Path) -> None:
    service.on("POST", PROXY, Reply(raw=b"{}"))
    (tmp_path / "text").write_text("#cloud-config\n")
    fields = ("-f", "a=1", "-F", "b=1", "-F", 'c=["x"]', "-F", f"d=@{tmp_path}/text")
    assert run("request", PROXY.replace("demo", "{project}"), *fields).status == 0
    asked = service.requests[0]
    assert (asked.method, asked.body) == ("POST", {"a": "1", "b": 1, "c": ["x"], "d": "#cloud-config\n"})
    assert (asked.headers["content-type"], "idempotency-key" in asked.headers) == ("application/json", True)
    service.lists(CLUSTERS, [])
    assert run("request", "GET", f"{CLUSTERS}?name=a", "-f", "order=-name", "-F", "limit=3").status == 0
    assert service.requests[1].query == {"name": "a", "order": "-name", "limit": "3"}


def test_a_body_comes_from_a_file_or_standard_input(
    run: Run, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.on("PUT", PROXY, Reply(raw=b""))
    (tmp_path / "body").write_text('{"a": 1}')
    assert run("request", "put", PROXY, "--input", str(tmp_path / "body")).status == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"a": 2}')))
    assert run("request", "PUT", PROXY, "--input", "-", "-H", "Content-Type: application/x").status == 0
    assert [each.body for each in service.requests] == [{"a": 1}, {"a": 2}]
    assert [each.headers["content-type"] for each in service.requests] == ["application/json", "application/x"]


def test_a_list_is_read_to_its_end_as_one_array(run: Run, service: Service) -> None:
    pages = [{"items": [1, 2], "next_cursor": "c&1"}, {"items": [3], "next_cursor": "c2"}, {"items": []}]
    service.on("GET", PROXY, *(Reply(raw=json.dumps(page).encode()) for page in pages))
    assert run("request", f"{PROXY}?state=a&state=b", "--paginate").json == [1, 2, 3]
    assert [each.query.get("cursor") for each in service.requests] == [None, "c&1", "c2"]
    assert {each.query["state"] for each in service.requests} == {"b"}
    service.on("GET", PROXY, Reply(raw=b"{}"))
    assert run("request", PROXY, "--paginate").status == 2


@pytest.mark.parametrize(("status", "ends"), [(404, 3), (403, 4), (409, 5), (422, 2), (500, 1)])
def test_a_refusal_is_its_document_on_standard_error(run: Run, service: Service, status: int, ends: int) -> None:
    service.on("GET", "/v1/whoami", problem(status, "a_code", "No."))
    for options in ((), ("--paginate",)):
        ended = run("request", "/v1/whoami", *options)
        assert (ended.status, ended.out, json.loads(ended.err)["code"]) == (ends, "", "a_code")


def test_a_redirect_is_not_followed(run: Run, service: Service) -> None:
    service.on("GET", PROXY, Reply(302, headers={"Location": "https://elsewhere.example/"}))
    ended = run("request", PROXY)
    assert (ended.status, ended.out) == (1, "")
    assert "status 302, which leads to https://elsewhere.example/" in ended.err
    assert len(service.requests) == 1


def test_only_what_has_no_second_effect_is_sent_again(run: Run, service: Service) -> None:
    service.on("POST", f"{CLUSTERS}/bert:suspend", HANG_UP, Reply(raw=b"{}"))
    service.on("POST", PROXY, HANG_UP, Reply(raw=b"{}"))
    service.on("GET", PROXY, HANG_UP, Reply(raw=b"{}"))
    assert run("request", "POST", f"{CLUSTERS}/bert:suspend").status == 0
    assert len({each.headers["idempotency-key"] for each in service.requests}) == 1
    assert run("request", "GET", PROXY).status == 0
    assert run("request", "POST", PROXY).status == 6
    assert service.calls().count(f"POST {PROXY}") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("v1/whoami",),
        ("https://elsewhere.example/",),
        ("/v1/../../x",),
        ("/v1/%2e%2e/x",),
        ("/v1/who am i",),
        ("GET", "POST", "/v1/whoami"),
        ("G T", "/v1/whoami"),
        ("/v1/whoami", "-H", "Host: elsewhere.example"),
        ("/v1/whoami", "-H", "authorization: Bearer x"),
        ("/v1/whoami", "-H", "no header"),
        ("/v1/whoami", "-H", "A: b\nC: d"),
        ("/v1/whoami", "-f", "a"),
        ("/v1/whoami", "-F", "a=text"),
        ("/v1/whoami", "-F", "a=@/no/such/file"),
        ("/v1/whoami", "--input", "/no/such/file"),
        ("POST", "/v1/whoami", "--paginate"),
    ],
)
def test_what_cannot_be_sent_is_refused(run: Run, service: Service, arguments: tuple[str, ...]) -> None:
    assert run("request", *arguments).status == 2
    assert service.requests == []


def test_at_a_terminal_json_is_indented_and_nothing_controls_it(
    run: Run, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    service.on("GET", PROXY, Reply(raw=b'{"a":"\xc2\x9b"}'), Reply(raw=b"<p>\x1b[2J"))
    assert run("request", PROXY).out == '{\n  "a": " "\n}\n'
    assert run("request", PROXY).out == "<p> [2J\n"


def test_the_token_in_use_is_printed_alone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPUCLOUD_TOKEN", "ipu_dev_other")
    ended = run("token")
    assert (ended.status, ended.out, ended.err) == (0, "ipu_dev_other\n", "")
    monkeypatch.delenv("IPUCLOUD_TOKEN")
    ended = run("token")
    assert (ended.status, ended.out, "No token is configured" in ended.err) == (2, "", True)
