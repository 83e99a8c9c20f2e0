"""Secrets from files, which may be replaced, and from commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from ipucloud.config import Settings
from ipucloud.kernel.secrets import SecretFile, printed_by

KEY = "A" * 43


def refused(**values: object) -> str:
    with pytest.raises(ValidationError) as raised:
        Settings(**values)  # type: ignore[arg-type]  # as text, like variables
    return str(raised.value)


def replace(path: Path, text: str) -> None:
    """As a program that rotates secrets does: the file is there at every moment."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.rename(path)


def test_a_replaced_file_is_read_again_and_a_bad_one_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("first\n")
    secret = Settings(site_token_file=path).site_secret()
    assert secret() == "first"
    replace(path, "second\n")
    assert secret() == "second"
    replace(path, "")
    assert secret() == "second"
    replace(path, "thi\nrd")
    assert secret() == "second"
    path.unlink()
    assert secret() == "second"
    replace(path, "fourth")
    assert secret() == "fourth"


def test_a_file_without_a_secret_keeps_a_process_from_starting(tmp_path: Path) -> None:
    absent, empty = tmp_path / "absent", tmp_path / "empty"
    empty.touch()
    assert "IPUCLOUD_SITE_TOKEN_FILE: the file cannot be read: No such file" in refused(site_token_file=absent)
    assert "IPUCLOUD_VIPU_ACCESS_KEY_FILE: the file does not hold" in refused(vipu_access_key_file=empty)
    with pytest.raises(OSError, match="No such file"):
        SecretFile(absent, bool).secret()


def test_keys_come_from_a_variable_a_file_or_a_command(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text(f"{KEY}\n")
    loaded = [
        Settings.model_validate(values)
        for values in ({"secrets_key": KEY}, {"secrets_key_file": path}, {"secrets_key_command": f"cat '{path}'"})
    ]
    assert {each.secrets_key.get_secret_value() for each in loaded if each.secrets_key} == {KEY}
    assert len({each.model_dump_json() for each in loaded}) == 1  # what is handed to other programs is the key


def test_only_one_source_may_be_set(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("text")
    sentence = refused(secrets_key=KEY, secrets_key_file=path)
    assert "Set only one of IPUCLOUD_SECRETS_KEY and IPUCLOUD_SECRETS_KEY_FILE" in sentence
    assert KEY not in sentence


def test_what_a_file_or_command_gives_is_judged_like_the_variable(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("hunter2")
    for values in ({"secrets_key_file": path}, {"secrets_key_command": f"cat '{path}'"}):
        sentence = refused(**values)
        assert "secrets_key" in sentence
        assert "hunter2" not in sentence


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("sh -c 'echo hunter2; exit 3'", "the command ended with status 3; run it by hand to see why"),
        ("no-such-program-here", "the command could not be run (FileNotFoundError)"),
        ("unclosed 'quote", "the command could not be run (ValueError)"),
    ],
)
def test_a_command_that_fails_is_told_without_its_output(command: str, sentence: str) -> None:
    with pytest.raises(ValueError, match="the command") as raised:
        printed_by(command)
    assert str(raised.value) == sentence
