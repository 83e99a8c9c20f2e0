"""How a recipe is run as a job."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath

from ipucloud.catalogue.queries import Catalogue
from ipucloud.contract.catalogue import AllocatedThrough, Flavor
from ipucloud.contract.recipes import Recipe, RecipeProgram

_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


def job_command(recipe: Recipe) -> list[str] | None:
    """`command` of a job that brings the recipe's files to the server, sets up and runs the program.

    Everything is in the directory of the recipe's name, or of the repository's, in the user's home. What is there
    already is used again: a commit that a customer has pushed to the server is not fetched. Words after the command are
    arguments of the program. None without a program.
    """
    program = recipe.program
    if program is None:
        return None
    root = shlex.quote(_root(recipe.id, program))
    lines = _fetched(root, program.repository, program.commit or "") if program.repository else _written(root, program)
    if program.dataset_variable:
        lines.insert(0, f': "${{{program.dataset_variable}:?must name the directory of {program.dataset}}}"')
    if program.directory:
        lines.append(f"cd {shlex.quote(program.directory)}")
    lines += [shlex.join(each) for each in program.setup]
    lines.append("exec " + " ".join(map(_word, program.command)) + ' "$@"')
    return ["bash", "-euc", "\n".join(lines), recipe.id]


def working_directory(recipe: Recipe) -> str | None:
    """Where the program starts, relative to the user's home; None without a program."""
    program = recipe.program
    if program is None:
        return None
    return str(PurePosixPath(_root(recipe.id, program)) / (program.directory or ""))


def smallest_flavors(catalogue: Catalogue, program: RecipeProgram, region: str) -> list[Flavor]:
    """The flavors of the region with the fewest IPUs that the program runs on."""
    enough = [
        flavor
        for flavor in catalogue.flavors_in(region)
        if flavor.ipus >= program.ipus and flavor.allocated_through is AllocatedThrough.V_IPU
    ]
    fewest = min((flavor.ipus for flavor in enough), default=0)
    return [flavor for flavor in enough if flavor.ipus == fewest]


def _root(name: str, program: RecipeProgram) -> str:
    return name if program.repository is None else PurePosixPath(program.repository).stem


def _fetched(root: str, repository: str, commit: str) -> list[str]:
    return [
        f"git init -q {root}",
        f"cd {root}",
        f"git cat-file -e {commit} 2>/dev/null || git fetch -q --depth 1 {shlex.quote(repository)} {commit}",
        f"git checkout -q {commit}",
    ]


def _written(root: str, program: RecipeProgram) -> list[str]:
    lines = [f"mkdir -p {root}", f"cd {root}"]
    for file in program.files:
        folder, path = PurePosixPath(file.path).parent, shlex.quote(file.path)
        lines.append(f"mkdir -p {shlex.quote(str(folder))}")
        lines.append(f"printf %s {shlex.quote(file.text)} > {path}")
    return lines


def _word(word: str) -> str:
    """A word for the shell, which replaces only a variable at its start."""
    variable = _VARIABLE.match(word)
    if variable is None:
        return shlex.quote(word)
    rest = word[variable.end() :]
    return f'"${{{variable[1]}}}"' + (shlex.quote(rest) if rest else "")
