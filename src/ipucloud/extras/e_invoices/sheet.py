"""A page of a PDF document: A4, margins, a running head and foot, tables that break over pages.

Text is set in the fonts of `fonts`, embedded as subsets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ipucloud.extras.e_invoices.fonts import FONT, Fonts, printable

WIDTH, HEIGHT = 210.0, 297.0
LEFT, RIGHT, TOP, BOTTOM = 20.0, 190.0, 18.0, 24.0
"""Millimetres; text stays between them."""
INK, GREY, RULE, SHADE = (28, 32, 38), (104, 112, 122), (205, 210, 216), (243, 245, 247)
_ROOM = HEIGHT - BOTTOM - TOP - 12
"""The height of a page below its running head and the titles of a table."""
Align = Literal["L", "R"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; `width` in millimetres."""

    title: str
    width: float
    align: Align = "L"


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of a table in order. The second may need several lines; `note` is set small under it."""

    cells: Sequence[str]
    note: str = ""


class Sheet(Fonts):
    """A document of `pages` pages, for a `with`. Nothing depends on the clock: the same input gives the same bytes.

    `standard`: that it has to comply with, such as `PDF/A-3B`.
    """

    def __init__(self, title: str, foot: str, made_at: datetime, pages: int, standard: str | None = None) -> None:
        super().__init__(standard)
        self.set_margins(LEFT, TOP, WIDTH - RIGHT)
        self.set_auto_page_break(auto=False, margin=BOTTOM)
        self.set_title(printable(title))
        self.set_producer("ipucloud")
        self.set_creation_date(made_at)
        self.set_lang("en")
        self._title, self._foot, self._pages = printable(title), printable(foot), pages
        self.add_page()

    def header(self) -> None:
        """The running head: from the second page on."""
        if self.page_no() > 1:
            self.text_at(LEFT, TOP - 6, self._title, size=8, colour=GREY)
            self._rule(TOP - 1)
            self.set_xy(LEFT, TOP + 3)

    def footer(self) -> None:
        y = HEIGHT - BOTTOM + 8
        self._rule(y - 2)
        self.text_at(LEFT, y, self._foot, size=8, colour=GREY)
        self.text_at(LEFT, y, f"Page {self.page_no()} of {self._pages}", size=8, colour=GREY, align="R")

    def text_at(
        self,
        x: float,
        y: float,
        text: str,
        *,
        width: float | None = None,
        size: float = 9.5,
        bold: bool = False,
        colour: tuple[int, int, int] = INK,
        align: Align = "L",
    ) -> float:
        """Set text from (x, y) on, broken to the width, by default up to the right margin; where the next line goes."""
        prepared = self.prepared(text)
        self.set_font(FONT, "B" if bold else "", size)
        self.set_text_color(*colour)
        if self.text_shaping:
            # Of a text that begins in a fallback font, fpdf2 2.8.9 sets the second line in a wrong one.
            self.text(x, y, " ")
        self.set_xy(x, y)
        wide = RIGHT - x if width is None else width
        self.multi_cell(wide, size * 0.46, prepared, align=align, new_x="LMARGIN", new_y="NEXT")
        return float(self.get_y())

    def need(self, height: float) -> None:
        """Begin a new page unless so much fits on this one."""
        if self.get_y() + height > HEIGHT - BOTTOM:
            self.add_page()

    def print_table(self, columns: Sequence[Column], rows: Sequence[Row], *, keep: float = 0.0) -> None:
        """A table from the present height on; on every page it begins with its titles.

        `keep`: the height of what follows. It shares a page with the last row, unless no page has room for both.
        """
        self._titles(columns)
        for place, row in enumerate(rows, start=1):
            height = self._height(columns, row)
            needed = height + keep if 1 < place == len(rows) and height + keep <= _ROOM else height
            if self.get_y() + needed > HEIGHT - BOTTOM:
                self.add_page()
                self._titles(columns)
            self._row(columns, row, height)

    def height_of(self, text: str, size: float) -> float:
        """The height of text that is as wide as the page allows."""
        return self._measured(text, RIGHT - LEFT, size)

    def facts(self, x: float, y: float, width: float, pairs: Sequence[tuple[str, str]]) -> float:
        """Names on the left and values on the right of a block; where the next line goes."""
        names, values = width * 0.35, width * 0.65
        for name, value in pairs:
            self.text_at(x, y, name, width=names, size=9, colour=GREY)
            y = self.text_at(x + names, y, value, width=values, size=self._fitting(value, values), align="R") + 1.1
        return y

    def _fitting(self, text: str, width: float) -> float:
        """The largest size, from 9 points down to 7, in which the text fits one line."""
        prepared = self.prepared(text)
        for size in (9.0, 8.5, 8.0, 7.5):
            self.set_font(FONT, "", size)
            if self.get_string_width(prepared) + 2 * self.c_margin <= width:
                return size
        return 7.0

    def _titles(self, columns: Sequence[Column]) -> None:
        y = self.get_y()
        self.set_fill_color(*SHADE)
        self.rect(LEFT, y, RIGHT - LEFT, 7, style="F")
        x = LEFT
        for column in columns:
            self.text_at(x, y + 1.7, column.title, width=column.width, size=8, bold=True, align=column.align)
            x += column.width
        self.set_y(y + 8.2)

    def _height(self, columns: Sequence[Column], row: Row) -> float:
        """Only the second cell may need more than a line: the others are numbers."""
        height = self._measured(row.cells[1], columns[1].width, 9)
        if row.note:
            height += self._measured(row.note, columns[1].width, 8)
        return height + 2.6

    def _measured(self, text: str, width: float, size: float) -> float:
        prepared = self.prepared(text)
        self.set_font(FONT, "", size)
        lines = self.multi_cell(width, size * 0.46, prepared, dry_run=True, output="LINES")
        return size * 0.46 * len(lines) if isinstance(lines, list) else 0.0

    def _row(self, columns: Sequence[Column], row: Row, height: float) -> None:
        x, y = LEFT, self.get_y()
        for place, (column, cell) in enumerate(zip(columns, row.cells, strict=True)):
            end = self.text_at(x, y, cell, width=column.width, size=9, align=column.align)
            if place == 1 and row.note:
                self.text_at(x, end, row.note, width=column.width, size=8, colour=GREY)
            x += column.width
        self._rule(y + height - 1.3)
        self.set_y(y + height)

    def _rule(self, y: float, x: float = LEFT, colour: tuple[int, int, int] = RULE) -> None:
        self.set_draw_color(*colour)
        self.set_line_width(0.2)
        self.line(x, y, RIGHT, y)

    def rule(self, x: float) -> None:
        """A strong line at the present height, from `x` to the right margin."""
        self._rule(self.get_y(), x, INK)
