"""Which files of a directory are sent: all but those that its .gitignore and .ipucloudignore files name.

Patterns mean what they mean to git; those of .ipucloudignore are read after those of .gitignore in its folder, so that
`!data/` sends what git ignores. Files of folders above the directory, and git's own configuration, are not read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ipucloud.client.errors import UsageError

IGNORE_FILES = (".gitignore", ".ipucloudignore")
ALWAYS_LEFT_OUT = (".git", "__pycache__")
"""Names of directories that are never sent."""
_CLASS = re.compile(r"\[(?P<negated>[!^]?)(?P<members>(?:\]|\\.|[^]\\])(?:\\.|[^]\\])*)\]")
_DROPPED_SPACES = re.compile(r"(?<!\\) +$")


@dataclass(frozen=True)
class Listing:
    """What is sent of a directory: facts of each file, by its name in it. `ignored`: names of what a pattern matches,
    those of folders with a slash at their end."""

    directory: Path
    files: dict[str, os.stat_result]
    ignored: list[str]

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(facts.st_size for facts in self.files.values())


def listed(directory: Path) -> Listing:
    """The files of a directory that are sent; no links.

    Raises UsageError for a file or folder that cannot be read, or whose name cannot be sent; one that is removed
    meanwhile is left out.
    """
    listing = Listing(directory, {}, [])
    rules: dict[str, tuple[_Rule, ...]] = {}
    for folder, folders, names in os.walk(directory, onerror=_refuse):
        here = Path(folder).relative_to(directory)
        known = rules.pop(folder, ()) + tuple(_rules_of(Path(folder), here, names))
        folders[:] = sorted(each for each in folders if each not in ALWAYS_LEFT_OUT)
        rules |= {f"{Path(folder, name)}": known for name in folders}
        ignored = {name for name in folders if _ignored((here / name).as_posix(), known, folder=True)}
        listing.ignored.extend(f"{(here / name).as_posix()}/" for name in sorted(ignored))
        folders[:] = [each for each in folders if each not in ignored]
        for name in sorted(names):
            if _ignored(path := (here / name).as_posix(), known, folder=False):
                listing.ignored.append(path)
            elif (facts := _facts(Path(folder, name))) is not None:
                _require_sendable(path)
                listing.files[path] = facts
    return listing


@dataclass(frozen=True)
class _Rule:
    """A pattern, for paths in the directory. `keeps`: it began with an exclamation mark."""

    pattern: re.Pattern[str]
    keeps: bool
    folders_only: bool


def _rules_of(folder: Path, here: Path, names: list[str]) -> Iterator[_Rule]:
    base = "" if here == Path() else f"{re.escape(here.as_posix())}/"
    for file in IGNORE_FILES:
        if file in names and (folder / file).is_file():
            try:
                text = (folder / file).read_text(encoding="utf-8-sig", errors="surrogateescape")
            except FileNotFoundError:
                continue
            except OSError as error:
                raise _unreadable(error) from error
            yield from filter(None, (_rule(line, base) for line in text.split("\n")))


def _rule(line: str, base: str) -> _Rule | None:
    """What a line of an ignore file says of paths below `base`; None: nothing."""
    line = _DROPPED_SPACES.sub("", line.removesuffix("\r"))
    if line.startswith("#"):
        return None
    keeps, line = line.startswith("!"), line.removeprefix("!")
    folders_only, line = line.endswith("/"), line.removesuffix("/")
    if not line:
        return None
    anchored = "/" in line
    expression = _expression(line.removeprefix("/").split("/"))
    if expression is None:
        return None
    anywhere = "" if anchored else "(?:.*/)?"
    return _Rule(re.compile(f"{base}{anywhere}{expression}", re.DOTALL), keeps, folders_only)


def _expression(segments: list[str]) -> str | None:
    """The regular expression of a pattern; None if it matches nothing."""
    parts: list[str] = []
    for segment in segments[:-1]:
        inner = _segment(segment)
        if inner is None:
            return None
        parts.append("(?:.*/)?" if segment == "**" else f"{inner}/")
    last = ".+" if segments[-1] == "**" else _segment(segments[-1])
    return None if last is None else "".join(parts) + last


def _segment(text: str) -> str | None:
    """What is between two slashes of a pattern as a regular expression; None if it matches nothing."""
    parts: list[str] = []
    place = 0
    while place < len(text):
        character, step = text[place], 1
        if character == "*":
            parts.append("[^/]*")
        elif character == "?":
            parts.append("[^/]")
        elif character == "\\":
            if place + 1 == len(text):
                return None
            parts.append(re.escape(text[place + 1]))
            step = 2
        elif character == "[":
            if (found := _CLASS.match(text, place)) is None:
                return None
            parts.append(_class(found["members"], negated=bool(found["negated"])))
            step = len(found[0])
        else:
            parts.append(re.escape(character))
        place += step
    return "".join(parts)


def _class(members: str, *, negated: bool) -> str:
    """A class of characters: single ones, and all from one to another; what a backslash precedes is meant itself."""
    parts: list[str] = []
    tokens = re.findall(r"\\?.", members, re.DOTALL)
    while tokens:
        width = 3 if len(tokens) > 2 and tokens[1] == "-" else 1
        first, last = tokens[0][-1], tokens[width - 1][-1]
        parts.append(f"{re.escape(first)}-{re.escape(max(first, last))}")
        tokens = tokens[width:]
    return f"(?!/)[{'^' if negated else ''}{''.join(parts)}]"


def _ignored(path: str, rules: tuple[_Rule, ...], *, folder: bool) -> bool:
    """What the last rule says that matches, as in git."""
    for rule in reversed(rules):
        if (folder or not rule.folders_only) and rule.pattern.fullmatch(path):
            return not rule.keeps
    return False


def _facts(path: Path) -> os.stat_result | None:
    """Of a file that is sent; None for what is none, or was removed meanwhile."""
    try:
        facts = path.lstat()
        if not stat.S_ISREG(facts.st_mode):
            return None
        if not os.access(path, os.R_OK):
            path.open("rb").close()  # raises what is wrong with it
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(error) from error
    return facts


def _unreadable(error: OSError) -> UsageError:
    why = (error.strerror or "unknown error").lower()
    return UsageError(f"{error.filename} cannot be read: {why}. Make it readable, or name it in .ipucloudignore.")


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise _unreadable(error) from error


def _require_sendable(name: str) -> None:
    if "\n" in name or "\r" in name:
        raise UsageError(f"The name of {name!r} has a line break; rename the file, or name it in .ipucloudignore.")
