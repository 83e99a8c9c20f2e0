"""User data: what is taken, and how what is not is refused, by its name."""

from __future__ import annotations

import base64
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipucloud.wire.user_data import UserData, UserDataProblem, WrittenFile, parse

KEY = "ssh-ed25519 " + base64.b64encode(b"\0\0\0\x0bssh-ed25519" + bytes(36)).decode() + " ada"

CONFIG = f"""\
#cloud-config
hostname: trainer
package_update: true
bootcmd:
- echo early
write_files:
- path: /etc/app.conf
  content: |
    a: 1
  permissions: '0600'
- {{path: /data/key, content: aGk=, encoding: b64, append: true}}
runcmd:
- [git, clone, "/data/a b"]
- echo done > /data/done
ssh_authorized_keys:
- {KEY}
"""


def test_a_configuration_is_read() -> None:
    assert parse(CONFIG) == UserData(
        hostname="trainer",
        ssh_authorized_keys=(KEY,),
        boot_commands=("echo early",),
        files=(
            WrittenFile("/etc/app.conf", b"a: 1\n", 0o600, append=False),
            WrittenFile("/data/key", b"hi", 0o644, append=True),
        ),
        run_commands=(("git", "clone", "/data/a b"), "echo done > /data/done"),
        skipped=("package_update",),
    )


def test_a_script_is_kept_as_it_is() -> None:
    assert parse("#!/bin/bash\necho hello\n").script == "#!/bin/bash\necho hello\n"


@pytest.mark.parametrize("text", [None, "", " \n", "#cloud-config", "#cloud-config\n# nothing\n"])
def test_nothing_is_nothing(text: str | None) -> None:
    assert not parse(text).does_something


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("echo hello", "its first line is neither #cloud-config"),
        ("#!/bin/sh\r\necho hello\r\n", "end with CR LF"),
        ("IyEvYmluL3NoCmVjaG8gaGVsbG8K", "neither compressed nor as base64"),
        ("#cloud-config\nruncmd: [a]\n---\nruncmd: [b]", "found another document"),
        ("#include http://example.org", "its first line is neither"),
        ("Content-Type: multipart/mixed", "its first line is neither"),
        ("#cloud-config\npackages: [htop]", "key 'packages' is not supported; supported are bootcmd, hostname"),
        ("#cloud-config\n1: 2", "a key that is no name is not supported"),
        ("#cloud-config\n- a", "it is not a mapping"),
        ("#cloud-config\nruncmd: [", "it is not YAML in line 3"),
        ("#cloud-config\n{[a]: 1}", "it is not YAML"),
        ("#cloud-config\nruncmd: !!python/object:os.system [id]", "it is not YAML"),
        ("#cloud-config\nruncmd: &a [x]\nbootcmd: *a", "it uses a YAML alias"),
        ("#cloud-config\nruncmd: " + "[" * 40, "within each other"),
        ("#cloud-config\nruncmd: echo", "'runcmd' is not a list"),
        ("#cloud-config\nruncmd: [[]]", "item 1 of 'runcmd' is neither"),
        ("#cloud-config\nruncmd: [a, {b: c}]", "item 2 of 'runcmd' is neither"),
        ("#cloud-config\nhostname: Not_A_Name", "'hostname' is not a host name"),
        ("#cloud-config\nhostname: [a]", "'hostname' is not a host name"),
        ("#cloud-config\nssh_authorized_keys: [ssh-ed25519 AAAA]", "item 1 of 'ssh_authorized_keys' is not"),
        ('#cloud-config\nssh_authorized_keys: [\'command="x" ' + KEY + "']", "item 1 of 'ssh_authorized_keys' is not"),
        ("#cloud-config\nwrite_files: [x]", "item 1 of 'write_files' is not a mapping"),
        ("#cloud-config\nwrite_files: [{content: x}]", "has no path that begins with '/'"),
        ("#cloud-config\nwrite_files: [{path: etc/x}]", "has no path that begins with '/'"),
        (
            "#cloud-config\nwrite_files: [{path: /x, owner: root}]",
            "item 1 of 'write_files' has key 'owner'; supported are",
        ),
        (
            "#cloud-config\nwrite_files: [{path: /x, encoding: gzip}]",
            "the encoding of item 1 of 'write_files' is not one of",
        ),
        ("#cloud-config\nwrite_files: [{path: /x, encoding: b64, content: a}]", "is not base64"),
        ("#cloud-config\nwrite_files: [{path: /x, permissions: 0644}]", "three octal digits in quotes"),
        ("#cloud-config\nwrite_files: [{path: /x, append: 1}]", "'append' of item 1 of 'write_files' is neither"),
        (
            "#cloud-config\nwrite_files: [{path: /x, content: [1]}]",
            "the content of item 1 of 'write_files' is not a text",
        ),
    ],
)
def test_what_is_not_supported_is_refused_by_its_name(text: str, cause: str) -> None:
    with pytest.raises(UserDataProblem) as refused:
        parse(text)
    assert cause in str(refused.value)


@given(text=st.text(max_size=200))
def test_every_text_is_read_or_refused(text: str) -> None:
    for each in (text, f"#cloud-config\n{text}", f"#cloud-config\nruncmd: {text}"):
        with suppress(UserDataProblem):
            parse(each)
