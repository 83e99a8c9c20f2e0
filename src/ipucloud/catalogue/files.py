"""The data files of a catalogue: their bytes, their digest, their rows.

Every file `<name>.toml` holds an array of tables `rows` and nothing else.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources.abc import Traversable
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ipucloud.catalogue.checks import Fault
from ipucloud.contract.catalogue import Model, Source

NAMES = (
    "articles",
    "flavors",
    "images",
    "ipus",
    "machine_types",
    "pods",
    "prices",
    "recipes",
    "regions",
    "sources",
    "tools",
)

_DIGEST_LETTERS = 12

AnyModel = TypeVar("AnyModel", bound=Model)


class DataFiles:
    """The files of one directory, all read before the first is parsed.

    `faults` collects faults of the files and of the requested rows. Catalogues with the same `digest` have the same
    files, byte for byte.
    """

    def __init__(self, directory: Traversable) -> None:
        self.faults: list[Fault] = []
        self._contents: dict[str, bytes] = {}
        hashed = hashlib.sha256()
        for name in NAMES:
            try:
                content = (directory / f"{name}.toml").read_bytes()
            except OSError as fault:
                self.faults.append(Fault(name, None, None, f"the file cannot be read: {fault.strerror or fault}"))
                continue
            self._contents[name] = content
            hashed.update(f"{name} {len(content)}\n".encode() + content)
        self.digest = hashed.hexdigest()[:_DIGEST_LETTERS]

    def rows(
        self, name: str, model: type[AnyModel], sources: Mapping[str, Source] | None = None
    ) -> tuple[AnyModel, ...]:
        """The valid rows of a file, in order; the others are in `faults`."""
        by_label: dict[str, AnyModel] = {}
        for number, values in enumerate(self._tables(name), 1):
            label = _label(model, values, number)
            if label in by_label:
                self.faults.append(Fault(name, label, None, "the row is duplicated"))
                continue
            try:
                by_label[label] = model.model_validate(values, context={"sources": sources})
            except ValidationError as refused:
                self.faults += (_fault(name, label, error) for error in refused.errors(include_url=False))
        return tuple(by_label.values())

    def _tables(self, name: str) -> Iterable[Mapping[str, object]]:
        content = self._contents.get(name)
        if content is None:
            return ()
        try:
            parsed = tomllib.loads(content.decode("utf-8"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
            self.faults.append(Fault(name, None, None, f"the file is not TOML: {fault}"))
            return ()
        rows = parsed.pop("rows", None)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            self.faults.append(Fault(name, None, None, "the file needs an array of tables `rows`"))
            return ()
        self.faults += (Fault(name, None, None, f"`{key}` is not known; rows are in `rows`") for key in parsed)
        return rows


def _label(model: type[Model], values: Mapping[str, object], number: int) -> str:
    """The name of a row in faults: its key, or its position when it has none."""
    key = [str(values[field]) for field in model.KEY if field in values]
    return " ".join(key) if len(key) == len(model.KEY) else f"number {number}"


def _fault(name: str, label: str, error: ErrorDetails) -> Fault:
    field = ".".join(map(str, error["loc"])) or None
    return Fault(name, label, field, error["msg"].removeprefix("Value error, "))
