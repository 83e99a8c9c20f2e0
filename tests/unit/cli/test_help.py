"""Every command explains itself: in a sentence, and by examples that its own parser accepts."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from ipucloud.cli.examples import Exemplified
from ipucloud.cli.main import cli
from tests.support.cases import all_cases

Words = tuple[str, ...]

OF_THE_VENDOR = {("vipu",), ("vipu-admin",)}
"""Their options, help included, are those of Graphcore's commands."""
FILES = (".pub", ".json", ".toml", ".csv")


def leaves(command: Any, context: Any = None, words: Words = ()) -> Iterator[tuple[Words, Any, Any]]:
    """Every command that is not hidden, with its words and the context in which it was found."""
    here = command.make_context(words[-1] if words else "ipucloud", [], parent=context, resilient_parsing=True)
    if not isinstance(here.command, TyperGroup):
        yield words, here.command, context
        return
    for name in here.command.list_commands(here):
        below = here.command.get_command(here, name)
        if below is not None and not below.hidden:
            yield from leaves(below, here, (*words, name))


@cache
def own_leaves() -> list[tuple[Words, Any, Any]]:
    return [each for each in leaves(cli) if each[0] not in OF_THE_VENDOR]


def test_every_command_says_what_it_does_in_a_sentence() -> None:
    summaries = {words: (leaf.help or "").split("\n\n")[0] for words, leaf, _ in own_leaves()}
    assert [words for words, summary in summaries.items() if not summary.endswith(".") or "\n" in summary] == []


def test_every_example_is_a_command_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    with all_cases() as case:
        for words, leaf, context in own_leaves():
            with case(" ".join(words)):
                assert isinstance(leaf, Exemplified), "it has no examples"
                for example in leaf.examples:
                    words_of = shlex.split(example.partition(">")[0])
                    arguments = [str(Path(each).expanduser()) if each.startswith("~") else each for each in words_of]
                    for each in (each for each in arguments if each.endswith(FILES) or "/.ssh/" in each):
                        Path(each).parent.mkdir(exist_ok=True)
                        Path(each).touch()
                    leaf.make_context(words[-1], arguments, parent=context)


def test_the_help_shows_the_examples_as_they_are_typed(run: Any) -> None:
    run("clusters", "resume", "--help").shows("Example", "ipucloud clusters resume bert")


def test_former_verbs_still_work_and_are_not_shown(run: Any) -> None:
    assert run("ssh-keys", "add", "--help").status == 0
    assert " add " not in run("ssh-keys", "--help").out
    assert run("configure", "--help").status == 0
    assert "configure" not in run("--help").out


def test_the_first_page_has_what_most_people_need_and_help_all_the_rest(run: Any) -> None:
    first, every = run("--help").out, run("help", "--all").out
    assert run("help").out == first

    def listed(page: str) -> list[str]:
        entries = page[page.index("Clusters:") :].splitlines()
        return [line.split()[0] for line in entries if line.startswith("  ")]

    assert len(listed(first)) < 25
    assert set(listed(every)) == {name for name, each in cli.commands.items() if not each.hidden}


def test_the_help_of_a_command_is_the_same_by_either_way(run: Any) -> None:
    assert run("help", "clusters", "create").out == run("clusters", "create", "--help").out
    assert (run("help", "clusters", "crate").status, run("help", "run", "x").status) == (2, 2)
    assert run("version").out == run("--version").out


def test_no_name_is_cut_in_a_narrow_terminal(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    shown = run("clusters", "create", "--help").out
    assert "…" not in shown
    for option in ("--reconfigurable / --no-reconfigurable", "--wait-for-capacity", "--poplar-servers"):
        assert option in shown
    assert "Resume a suspended cluster with the data on its servers." in " ".join(run("clusters", "--help").out.split())
