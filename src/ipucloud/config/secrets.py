"""Secrets that settings name a file or a command for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from ipucloud.config.values import VISIBLE
from ipucloud.kernel.secrets import SecretFile, printed_by


@contextmanager
def _naming(source: str) -> Iterator[None]:
    """Raises ValueError with the variable that gives a file or command, when it gives no secret."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"IPUCLOUD_{source.upper()}: the file cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"IPUCLOUD_{source.upper()}: {error}") from None


def _secret_file(path: Path | str) -> SecretFile:
    return SecretFile(Path(path), lambda text: VISIBLE.fullmatch(text) is not None)


def current_secret(value: SecretStr | None, path: Path | None) -> Callable[[], str | None]:
    if path is not None:
        return _secret_file(path).secret
    fixed = None if value is None else value.get_secret_value() or None
    return lambda: fixed


def read_secrets(values: Mapping[str, Any], *, at_start: Collection[str], current: Collection[str]) -> dict[str, Any]:
    """The given values, with the secrets `at_start` that a file or command has in place of its name.

    Of the `current` ones, which are read whenever they are used, only that there is one is checked. Raises ValueError,
    also when one is given in two ways.
    """
    read = dict(values)
    for name in (*at_start, *current):
        sources = [each for each in (name, f"{name}_file", f"{name}_command") if values.get(each) is not None]
        if len(sources) > 1:
            raise ValueError(f"Set only one of {' and '.join(f'IPUCLOUD_{each.upper()}' for each in sources)}")
        if not sources or sources == [name]:
            continue
        with _naming(sources[0]):
            if name in current:
                _secret_file(values[sources[0]]).secret()
            elif sources[0].endswith("_command"):
                read[name] = printed_by(str(read.pop(sources[0])))
            else:
                read[name] = Path(read.pop(sources[0])).read_text().strip()
    return read
