"""References to container images: what is one, what it means, and what is refused."""

from __future__ import annotations

import re

import pytest

from ipucloud.wire.images import MAX_REFERENCE, PATTERN, NotAReference, Reference, parse

DIGEST = f"sha256:{'0a' * 32}"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ubuntu", Reference("docker.io", "library/ubuntu", "latest", None)),
        ("graphcore/pytorch:3.3.0", Reference("docker.io", "graphcore/pytorch", "3.3.0", None)),
        ("docker.io/ubuntu", Reference("docker.io", "library/ubuntu", "latest", None)),
        ("localhost/a", Reference("localhost", "a", "latest", None)),
        ("127.0.0.1:5000/a/b_c/d__e:V1", Reference("127.0.0.1:5000", "a/b_c/d__e", "V1", None)),
        ("registry:5000/a", Reference("registry:5000", "a", "latest", None)),
        ("registry/a", Reference("docker.io", "registry/a", "latest", None)),
        (f"ghcr.io/a/b:1@{DIGEST}", Reference("ghcr.io", "a/b", "1", DIGEST)),
        (f"a@{DIGEST}", Reference("docker.io", "library/a", "latest", DIGEST)),
    ],
)
def test_a_reference_is_read_as_docker_reads_it(text: str, meant: Reference) -> None:
    assert parse(text) == meant
    assert re.search(PATTERN, text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "-v", "--volume=/:/host", "A/b", "a b", "a:b:c", "a:", "a@sha256:1", f"a@sha512:{'0' * 128}"),
        *("a//b", "/a", "a/", "a..b", "../etc", "a:.b", "host:0/a", "host:65536/a", "user@host.example/a"),
        *("https://ghcr.io/a", "ghcr.io/a\n", "ghcr.io/ä", f"a:{'b' * 129}", "a/" * (MAX_REFERENCE // 2) + "a"),
    ],
)
def test_what_is_no_reference_is_refused_with_what_one_looks_like(text: str) -> None:
    with pytest.raises(NotAReference, match=r"such as ghcr\.io/example/train:1\.2"):
        parse(text)
    assert len(text) > MAX_REFERENCE or not re.fullmatch(PATTERN.removesuffix("$"), text)
