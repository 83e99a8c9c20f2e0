"""The fonts of printed documents: which letters they have, and which one a letter is set in.

Latin, Greek and Cyrillic are set in Open Sans. Letters that it lacks are set in Noto fonts for Arabic, Hebrew, and
Chinese, Japanese and Korean, which are opened only by documents that need them: the last has 44,810 characters and
takes a second. Han characters have their Japanese forms. Noto fonts are set in one weight.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from fontTools.ttLib import TTFont
from fpdf import FPDF
from fpdf.fonts import TTFFont
from ttf_opensans import OPENSANS_BOLD, OPENSANS_REGULAR

FONT = "opensans"
JOINERS = frozenset("\u200c\u200d")
"""Not printed themselves: they say whether the letters beside them join, as Persian needs."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """A font for letters that Open Sans lacks; `axes`: where a variable font's default is not its regular weight."""

    name: str
    package: str
    file: str
    axes: Mapping[str, float] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """Raises ModuleNotFoundError when its package is not installed."""
        spec = find_spec(self.package)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(self.package)
        return Path(spec.origin).parent / self.file


_RTL = "fonts/ofl/notosans{0}/NotoSans{1}[wdth,wght].ttf"
FALLBACKS = {
    each.name: each
    for each in (
        Fallback("arabic", "justmytype_intl_rtl", _RTL.format("arabic", "Arabic")),
        Fallback("hebrew", "justmytype_intl_rtl", _RTL.format("hebrew", "Hebrew"), {"wght": 400.0}),
        Fallback("cjk", "noto_cjk_sans_jp_regular", "NotoSansCJKjp-Regular.otf"),
    )
}
"""In the order in which they are asked for a letter."""


def printable(text: str) -> str:
    """`text`, which may have several lines, in characters that a font has.

    An accent that all lack is dropped, a letter that they lack becomes `?`.
    """
    return "".join(_printable(character) for character in unicodedata.normalize("NFC", text))


def can_print(text: str) -> bool:
    """Whether the fonts have every letter of the text, which may have several lines."""
    return all(_printable(each) != "?" for each in unicodedata.normalize("NFC", text) if each != "?")


def fallbacks_of(text: str) -> list[str]:
    """The names of the fonts that a printable text needs besides Open Sans."""
    lacking = {ord(each) for each in text if each != "\n"} - _open_sans()
    needed = {next((name for name in FALLBACKS if each in _characters(name)), None) for each in lacking}
    return [name for name in FALLBACKS if name in needed]


def _printable(character: str) -> str:
    if character == "\n":
        return character
    for candidate in (character, _without_accent(character)):
        if candidate and all(each.isprintable() or each in JOINERS for each in candidate) and _has(candidate):
            return candidate
    return "?"


def _has(text: str) -> bool:
    lacking = {ord(each) for each in text} - _open_sans()
    return all(any(each in _characters(name) for name in FALLBACKS) for each in lacking)


def _without_accent(character: str) -> str:
    parts = unicodedata.normalize("NFKD", character)
    return "".join(part for part in parts if not unicodedata.combining(part))


@cache
def _open_sans() -> frozenset[int]:
    """The code points that both weights have."""
    with Fonts() as fonts:
        regular, bold = (frozenset(each.cmap) for each in fonts.loaded())
    return regular & bold


@cache
def _characters(name: str) -> frozenset[int]:
    """The code points of a fallback font."""
    with TTFont(FALLBACKS[name].path, lazy=True) as font:
        return frozenset(font.getBestCmap())


class Fonts(FPDF):
    """A document with the fonts, whose files are open until the end of its `with`."""

    def __init__(self, standard: str | None = None) -> None:
        super().__init__(orientation="portrait", unit="mm", format="A4", enforce_compliance=standard)
        self.add_font(FONT, "", OPENSANS_REGULAR.path)
        self.add_font(FONT, "B", OPENSANS_BOLD.path)
        self._fallbacks: set[str] = set()

    def prepared(self, text: str) -> str:
        """The printable text, for which the fonts are loaded, and shaped if it needs one besides Open Sans.

        Shaping joins letters and orders them from right to left; Open Sans alone needs none.
        """
        printed = printable(text)
        needed = fallbacks_of(printed)
        for fallback in (FALLBACKS[name] for name in needed if name not in self._fallbacks):
            for style in ("", "B"):
                self.add_font(fallback.name, style, fallback.path, variations=dict(fallback.axes) or None)
        if not self._fallbacks.issuperset(needed):
            self._fallbacks.update(needed)
            self.set_fallback_fonts([name for name in FALLBACKS if name in self._fallbacks], exact_match=False)
        self.set_text_shaping(bool(needed))
        return printed

    def loaded(self) -> Iterator[TTFFont]:
        return (each for each in self.fonts.values() if isinstance(each, TTFFont))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for font in self.loaded():
            font.close()
