"""What all answers share, and the models that the API's document does not describe as closely."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

Item = TypeVar("Item")
_PLACES = {0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF", 3: "BHD IQD JOD KWD LYD OMR TND"}
PLACES = {code: places for places, codes in _PLACES.items() for code in codes.split()}
"""Decimal places of currencies, by ISO 4217; currencies that are not listed have two."""
_DIGITS = 60
_SECRETS = frozenset({"access_key", "secret", "token"})


class Answer(BaseModel):
    """A JSON object of the API. Fields this version does not know are kept, so that dumping it loses nothing.

    Secrets are not in its `repr`, which ends up in logs.
    """

    # Validators are built when they are first used: a program or a command reads few of the models.
    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    def __repr_args__(self) -> Iterable[tuple[str | None, object]]:
        return [each for each in super().__repr_args__() if each[0] not in _SECRETS or not isinstance(each[1], str)]


class Money(Answer):
    """An exact amount in a currency. `str` rounds it to the currency's decimal places, for people."""

    amount: Decimal
    currency: str

    def __str__(self) -> str:
        unit = Decimal(1).scaleb(-PLACES.get(self.currency, 2))
        if 0 < abs(self.amount) < unit:
            return f"< {unit:f} {self.currency}" if self.amount > 0 else f"> -{unit:f} {self.currency}"
        with localcontext(prec=_DIGITS):
            return f"{self.amount.quantize(unit, ROUND_HALF_UP):f} {self.currency}"


class Page(Answer, Generic[Item]):
    """A part of a list; `next_cursor` leads to the next part, None at the end."""

    items: Sequence[Item]
    next_cursor: str | None = None


class Problem(Answer):
    """Why an operation failed; `code` is stable."""

    code: str
    detail: str = ""


class ExportFile(Answer):
    """A file by its bytes."""

    name: str
    bytes: int
    sha256: str


class ExportManifest(Answer):
    """What a file is; `final` says that it never changes any more."""

    final: bool
    rows: int
    files: Sequence[ExportFile]


class Outcome(Answer):
    """What an operation can be asked beyond its fields."""

    state: str

    @property
    def succeeded(self) -> bool:
        return self.state == "succeeded"


class Release(Answer):
    """What an image can be asked beyond its fields."""

    os_version: str
    vipu_version: str
    sdk_version: str

    @property
    def release(self) -> list[int]:
        """Versions of Poplar SDK, V-IPU and operating system, as numbers: the largest is the newest image."""
        return [int(n) for n in re.findall(r"\d+", f"{self.sdk_version}-{self.vipu_version}-{self.os_version}")]
