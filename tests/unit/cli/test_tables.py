"""What a terminal and a pipe show of a list."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace

import pytest
from rich.text import Text

from ipucloud.cli.output import write_facts, write_table
from ipucloud.cli.times import duration, relative
from ipucloud.client.models import Money
from ipucloud.client.models.base import PLACES
from ipucloud.kernel.money import MINOR_UNITS
from tests.unit.cli.conftest import Terminal

ID = "01900000-0000-7000-8000-000000000001"
NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
WHY = "no network could be attached to it"
COLUMNS = ("ID", "NAME", "STATE", "CREATED", "WHY")
ROWS = [(ID, "bert", "error", datetime.now(UTC) - timedelta(hours=3, minutes=1), WHY)]


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard output is this terminal of 80 columns."""
    terminal = Terminal()
    monkeypatch.setattr("ipucloud.cli.output.sys", SimpleNamespace(stdout=terminal))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return terminal


def lines(text: str) -> list[str]:
    """The lines without colours. None ends in blanks."""
    shown = Text.from_ansi(text).plain.splitlines()
    assert shown == [line.rstrip() for line in shown]
    return shown


def test_a_wide_terminal_shows_every_column(screen: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    write_table(COLUMNS, ROWS, drop=("CREATED",), wrap="WHY")
    heading, row = lines(screen.getvalue())
    assert heading.split() == [*COLUMNS]
    assert "3 h ago" in row


def test_a_narrow_terminal_drops_columns_and_wraps_prose_alone(screen: Terminal) -> None:
    write_table(COLUMNS, ROWS, drop=("CREATED",), wrap="WHY")
    heading, *rest = lines(screen.getvalue())
    assert heading.split() == ["ID", "NAME", "STATE", "WHY"]
    assert rest[0].startswith(f"{ID}  bert  error  no")
    assert all(line.startswith(" ") for line in rest[1:])
    assert all(len(line) <= 80 for line in rest)


def test_a_terminal_narrower_than_an_id_loses_nothing_of_it(screen: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    write_table(("ID", "NAME"), [(ID, "bert")], drop=("NAME",))
    assert lines(screen.getvalue()) == ["ID", ID]


def test_a_terminal_cuts_prose_then_names_and_never_money_or_ids(screen: Terminal) -> None:
    script, cost = "python3 train.py\n" * 200, Money(amount=Decimal("1234567.5"), currency="EUR")
    write_table(("ID", "COST", "COMMAND"), [(ID, cost, script), (ID, cost, "ls")])
    heading, row, short = lines(screen.getvalue())
    assert heading.split() == ["ID", "COST", "COMMAND"]
    assert ID in row
    assert "1234567.5" in row
    assert row.endswith("…")
    assert len(row) == 80
    assert short.endswith("ls")
    screen.truncate(0)
    write_table(("URL", "NOTE"), [("https://example.com/" + "x" * 100, "a note of several words, which is cut first")])
    _, row = lines(screen.getvalue().lstrip("\0"))
    assert len(row) == 80
    assert row.count("…") == 2


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        ("585.0643235892", "EUR", "585.06 EUR"),
        ("-1.005", "EUR", "-1.01 EUR"),
        ("0.0099", "EUR", "< 0.01 EUR"),
        ("-0.0001", "EUR", "> -0.01 EUR"),
        ("0E-10", "EUR", "0.00 EUR"),
        ("1049.5", "JPY", "1050 JPY"),
        ("0.5", "JPY", "< 1 JPY"),
        ("2.0005", "KWD", "2.001 KWD"),
    ],
)
def test_an_amount_has_the_places_of_its_currency(amount: str, currency: str, shown: str) -> None:
    assert str(Money(amount=Decimal(amount), currency=currency)) == shown


def test_the_places_of_currencies_are_those_of_the_service() -> None:
    assert {code: places for code, places in MINOR_UNITS.items() if places != 2} == PLACES


def test_states_have_a_colour_and_times_both_ways_on_a_terminal(screen: Terminal) -> None:
    write_table(("NAME", "STATE"), [("bert", "active"), ("gpt", "error")])
    written = screen.getvalue()
    assert "\x1b[32mactive" in written
    assert "\x1b[31merror" in written
    write_facts([("created", datetime.now(UTC) - timedelta(hours=2, minutes=1))])
    assert "Z (2 h ago)" in screen.getvalue()


def test_a_pipe_gets_plain_whole_lines_with_times_in_utc(capsys: pytest.CaptureFixture[str]) -> None:
    write_table(
        ("NAME", "STATE", "CREATED", "WHY"),
        [("bert", "error", NOW, "word\n" * 5000 + "end")],
        drop=("CREATED",),
        wrap="WHY",
    )
    heading, row = lines(capsys.readouterr().out)
    assert heading.split() == ["NAME", "STATE", "CREATED", "WHY"]
    assert row.split()[:4] == ["bert", "error", "2026-01-01", "12:00:00Z"]
    assert row.count("word") == 5000
    assert "\x1b" not in row


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(seconds=10), "just now"),
        (timedelta(minutes=3, seconds=59), "3 min ago"),
        (timedelta(hours=23), "23 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=-2), "in 2 days"),
        (timedelta(seconds=-10), "in seconds"),
        (timedelta(days=100), "2025-09-23"),
    ],
)
def test_a_time_is_relative_until_it_is_months_away(ago: timedelta, words: str) -> None:
    assert relative(NOW - ago, NOW) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(9.4, "9 s"), (59.6, "1 min 0 s"), (125, "2 min 5 s"), (3780, "1 h 3 min")]
)
def test_a_duration(seconds: float, words: str) -> None:
    assert duration(seconds) == words
