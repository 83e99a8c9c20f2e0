"""The shell of a simulated server: its language, as far as it goes, is the POSIX shell's."""

from __future__ import annotations

from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipucloud.laboratory.simulator.ssh.commands import COMMANDS
from ipucloud.laboratory.simulator.ssh.disk import Disk
from ipucloud.laboratory.simulator.ssh.language import SyntaxProblem, parse
from ipucloud.laboratory.simulator.ssh.shell import Shell, ShellExit
from ipucloud.laboratory.simulator.ssh.terminal import Terminal, TextReader

DISK = 1024 * 1024

pytestmark = pytest.mark.anyio


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    disk = Disk(tmp_path / "disk", "ubuntu", DISK)
    disk.prepare()
    disk.count()
    return Shell(disk, "server", {"NAME": "a b", "EMPTY": ""}, COMMANDS)


async def run(shell: Shell, text: str, stdin: str = "") -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()

    async def write_out(text: str) -> None:
        out.write(text)

    async def write_err(text: str) -> None:
        err.write(text)

    status = await shell.run(text, Terminal(TextReader(StringIO(stdin)), write_out, write_err))
    return status, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("echo a  b", "a b\n"),
        ("echo 'a  b'", "a  b\n"),
        ("echo \"$NAME\" '$NAME' ${NAME}x", "a b $NAME a bx\n"),
        ("echo a'b'\"c\"\\ d", "ab" + "c d\n"),
        ("echo $EMPTY x '' y", "x  y\n"),
        ("echo a; echo b", "a\nb\n"),
        ("echo a\necho b", "a\nb\n"),
        ("true && echo yes || echo no", "yes\n"),
        ("false && echo yes || echo no", "no\n"),
        ("false || true; echo $?", "0\n"),
        ("false; echo $?", "1\n"),
        ("echo one two | wc -w", "2\n"),
        ("echo x > f; echo y >> f; cat < f", "x\ny\n"),
        ("X=1; echo $X", "1\n"),
        ("echo ~ ~/x '~'", "/home/ubuntu /home/ubuntu/x ~\n"),
        ("echo a # b", "a\n"),
        ("cat none 2>/dev/null; echo $?", "1\n"),
        ("cat none 2>&1 | grep -c none", "1\n"),
        ("echo 2", "2\n"),
        ("bash -c 'echo in; exit 0'", "in\n"),
    ],
)
async def test_texts_print_what_a_shell_prints(shell: Shell, text: str, printed: str) -> None:
    status, out, _ = await run(shell, text)
    assert (status, out) == (0, printed)


@pytest.mark.parametrize("text", ["echo 'a", 'echo "a', "echo >", "| cat", "echo a | | cat", "sleep 1 &"])
async def test_unreadable_texts_are_refused_whole(shell: Shell, text: str) -> None:
    status, out, err = await run(shell, f"touch done; {text}")
    assert (status, out) == (2, "")
    assert "syntax error" in err
    assert not shell.real("done").exists()


async def test_an_unknown_command_is_127(shell: Shell) -> None:
    status, _, err = await run(shell, "frobnicate --now")
    assert status == 127
    assert "frobnicate" in err


async def test_exit_ends_the_login_with_its_status(shell: Shell) -> None:
    with pytest.raises(ShellExit) as caught:
        await run(shell, "exit 7")
    assert caught.value.status == 7


async def test_files_and_folders(shell: Shell) -> None:
    status, out, _ = await run(
        shell, "mkdir -p a/b; cd a/b; pwd; echo x > f; cp f g; mv g ../h; cd; ls a; cat a/h; rm -r a; ls"
    )
    assert (status, out) == (0, "/home/ubuntu/a/b\nb\nh\nx\n")


async def test_the_home_folder_cannot_be_removed(shell: Shell) -> None:
    for path in ("/", "/home", "~", "."):
        status, _, err = await run(shell, f"rm -rf {path}")
        assert status == 1
        assert "Permission denied" in err
    assert shell.real("~").is_dir()


@given(path=st.text(st.sampled_from("./~a\x00b-"), max_size=30), cwd=st.sampled_from(["/", "/home/ubuntu", "/data/x"]))
def test_no_path_leads_out_of_the_disk(path: str, cwd: str) -> None:
    disk = Disk(Path("/disk"), "ubuntu", DISK)
    real = disk.real(path, cwd)
    assert real == Path("/disk") or Path("/disk") in real.parents
    assert ".." not in real.parts


@given(text=st.text(max_size=60))
def test_every_text_is_read_or_refused(text: str) -> None:
    with suppress(SyntaxProblem):
        list(parse(text))
