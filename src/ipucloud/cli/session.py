"""Common parts of customer commands: a client, --json, --project, --profile, --url, and error messages."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Concatenate, ParamSpec, TypeVar

import typer
from rich.console import Console

import ipucloud.client as sdk
from ipucloud.cli import output
from ipucloud.cli.completion import kind_of, names, profiles
from ipucloud.cli.examples import with_examples
from ipucloud.cli.exits import exit_of
from ipucloud.cli.finding import PROJECT, Reference, explained, require, suggesting
from ipucloud.cli.layout import Columns, Layout, Sort
from ipucloud.cli.watching import watch
from ipucloud.cli.wording import spoken
from ipucloud.client.call import Call
from ipucloud.client.errors import ApiError, ClientError, OperationFailedError, UsageError
from ipucloud.client.models import Page
from ipucloud.client.profiles import DEFAULT, Profile, chosen, config_dir, load, of_variables, stored_profiles
from ipucloud.client.sync import Client

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_PLATFORM_ROLES = frozenset({"admin", "support"})
NOT_CONFIGURED = (
    "No {what} is configured. Run `ipucloud login`, or set {variable}. For a system started by `ipucloud up`, run the "
    "line that it prints."
)


@dataclass
class Session:
    """One run of a command. `url`, `project` and `profile` are its options; None: as configured."""

    as_json: bool
    url: str | None
    project: str | None
    environment: Mapping[str, str]
    profile: str | None = None
    layout: Layout = field(default_factory=Layout)
    references: Sequence[Reference] = ()
    """What the arguments of the command name."""
    filters: Sequence[Reference] = ()
    """Those of them that it can be called without: an answer to the others says that they exist."""

    @cached_property
    def configured(self) -> Profile:
        """What to use: the profile, with the options --url and --project."""
        profile = load(self.environment, self.profile)
        return replace(profile, url=self.url or profile.url, project=self.project or profile.project)

    @cached_property
    def client(self) -> Client:
        profile = self.configured
        if profile.url is None:
            raise UsageError(NOT_CONFIGURED.format(what="URL of a service", variable="IPUCLOUD_URL"))
        return Client(profile.url, self.token, project=profile.project)

    @property
    def token(self) -> str:
        if self.configured.token is None:
            raise UsageError(NOT_CONFIGURED.format(what="token", variable="IPUCLOUD_TOKEN"))
        return self.configured.token

    @property
    def connected(self) -> bool:
        return "client" in self.__dict__

    @cached_property
    def messages(self) -> Console:
        """Standard error, for messages to people."""
        return output.console(sys.stderr)

    @property
    def config_dir(self) -> Path:
        return config_dir(self.environment)

    def run(self, call: Call[Result], *references: Reference) -> Result:
        """The answer; if the service refuses, the error says which of the `references` does not exist, and which do."""
        with suggesting(self.client, *references):
            return self.client.run(call)

    def list(
        self,
        call: Call[Page[Result]],
        columns: Sequence[str],
        row: Callable[[Result], Sequence[object]],
        *,
        drop: Sequence[str] = (),
        wrap: str | None = None,
    ) -> int:
        """Show a whole list, as a table or as one JSON array; `drop` and `wrap` as in `output.write_table`.

        Returns how many it has.
        Raises ApiError if the list is empty because one of `filters` does not exist.
        """
        listed = [*self.client.items(call)]
        if not listed:
            require(self.client, self.filters)
        self.show_items(listed, columns, row, drop=drop, wrap=wrap)
        return len(listed)

    def show_items(
        self,
        items: Iterable[Result],
        columns: Sequence[str],
        row: Callable[[Result], Sequence[object]],
        *,
        drop: Sequence[str] = (),
        wrap: str | None = None,
    ) -> None:
        """As `list`, for items that are there already."""
        listed = self.layout.sorted(items, columns, row)
        chosen = self.layout.chosen(columns)
        if self.as_json and chosen is not None:
            raise UsageError("-o chooses the columns of a table, and JSON has every field. Leave out -o or --json.")
        if self.as_json:
            output.write_json(listed)
        elif chosen is None:
            output.write_table(columns, map(row, listed), drop, wrap)
        else:
            places = [columns.index(title) for title in chosen]
            output.write_table(chosen, ([cells[place] for place in places] for cells in map(row, listed)), wrap=wrap)

    def show(self, value: object, facts: Iterable[tuple[str, object]]) -> None:
        """Show an object: its facts, or the object as JSON."""
        if self.as_json:
            output.write_json(value)
        else:
            output.write_facts(facts)

    def done(self, what: str, to: object) -> None:
        """Confirm an action that returns no object."""
        self.show({what: str(to)}, [(what, to)])

    def note(self, sentence: str) -> None:
        """Show the user a message that is not the result."""
        self.messages.print(output.harmless(sentence), soft_wrap=True)

    def confirm(self, question: str, to_do: str) -> None:
        """Ask the user; without a terminal, raise UsageError: --yes is then required `to_do` it."""
        if self.as_json or not sys.stdin.isatty():
            raise UsageError(f"No terminal to confirm on; add --yes to {to_do}.")
        typer.confirm(question, abort=True, err=True)

    def close(self) -> None:
        if self.connected:
            self.client.close()


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Project = Annotated[
    str | None, typer.Option("--project", help="Project: id, number or slug.", autocompletion=names(PROJECT))
]
ProfileName = Annotated[
    str | None,
    typer.Option("--profile", help="Profile stored by `ipucloud login`; IPUCLOUD_PROFILE.", autocompletion=profiles),
]
Watch = Annotated[bool, typer.Option("--watch", help="Show the result again whenever it changes, until Ctrl-C.")]
NeedlessYes = Annotated[bool, typer.Option("--yes", "-y", hidden=True)]
"""Of a command that does not ask: scripts give it to every command that changes something."""
WATCHABLE = {"list", "machines", "show"}
"""Names of commands that have --watch."""
Url = Annotated[str | None, typer.Option("--url", help="URL of the service.")]


def customer_command(
    app: typer.Typer, name: str, *examples: str, alias: str | None = None, lists: bool = False
) -> Callable[[Callable[Concatenate[Session, Parameters], None]], Callable[Concatenate[Session, Parameters], None]]:
    """Make a function a command of `app`, with a session as its first argument and the common options.

    `examples`: what follows the command's name in each. `alias`: a former name, which still works. `lists`: it shows a
    list, as every command named `list` does, and has -o and --sort.
    """

    def register(
        function: Callable[Concatenate[Session, Parameters], None],
    ) -> Callable[Concatenate[Session, Parameters], None]:
        for each in filter(None, (name, alias)):
            command = _Command(function, watchable=name in WATCHABLE, lists=lists or name == "list")
            app.command(each, cls=with_examples(*examples), hidden=each == alias)(command)
        return function

    return register


class _Command:
    """The function's signature for Typer, with the common options added."""

    def __init__(self, function: Callable[..., None], *, watchable: bool, lists: bool) -> None:
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self._function = function
        _, *own = inspect.signature(function, eval_str=True).parameters.values()
        self._kinds = {each.name: kind for each in own if (kind := kind_of(each.annotation))}
        self._required = {each.name for each in own if each.default is inspect.Parameter.empty}
        keyword = inspect.Parameter.KEYWORD_ONLY
        shared = [
            inspect.Parameter("context", keyword, annotation=typer.Context),
            inspect.Parameter("as_json", keyword, default=False, annotation=Json),
            inspect.Parameter("project", keyword, default=None, annotation=Project),
            inspect.Parameter("profile", keyword, default=None, annotation=ProfileName),
            inspect.Parameter("url", keyword, default=None, annotation=Url),
        ]
        if lists:
            shared.append(inspect.Parameter("columns", keyword, default=None, annotation=Columns))
            shared.append(inspect.Parameter("sort", keyword, default=None, annotation=Sort))
        if watchable:
            shared.append(inspect.Parameter("watched", keyword, default=False, annotation=Watch))
        elif all(each.name != "yes" for each in own):
            shared.append(inspect.Parameter("needless", keyword, default=False, annotation=NeedlessYes))
        self.__signature__ = inspect.Signature([*own, *shared])
        self.__annotations__ = {each.name: each.annotation for each in (*own, *shared)}

    def __call__(
        self,
        *,
        context: typer.Context,
        as_json: bool,
        project: str | None,
        profile: str | None,
        url: str | None,
        columns: str | None = None,
        sort: str | None = None,
        watched: bool = False,
        needless: bool = False,
        **arguments: object,
    ) -> None:
        given = {name: [(kind, each) for each in _texts(arguments[name])] for name, kind in self._kinds.items()}
        session = Session(as_json, url, project, os.environ, profile, Layout(columns, sort))
        session.references = [*chain(*given.values())]
        session.filters = [*chain(*(given[name] for name in given if name not in self._required))]
        with _errors_shown(session, context):
            if watched:
                watch(lambda: self._function(session, **arguments))
            self._function(session, **arguments)


def _texts(value: object) -> Iterable[str]:
    return [value] if isinstance(value, str) else value if isinstance(value, list) else ()


@contextmanager
def _errors_shown(session: Session, context: typer.Context) -> Iterator[None]:
    """Turn an error of the client into a message on standard error and an exit status."""
    try:
        yield
    except ClientError as caught:
        error = caught
        if isinstance(error, ApiError) and session.connected:
            project = [(PROJECT, session.configured.project)] if error.code == "not_found" else []
            error = explained(session.client, error, *session.references, *project)
        shown = spoken(error, context.command.params) if isinstance(error, ApiError) else error
        for line in f"ipucloud: {shown}".splitlines():
            session.note(line)
        if hint := _log_in(session, error) or _who_may(session, error, context.command_path):
            session.note(f"  {hint}")
        if session.as_json:
            output.write_json({"error": _document(error)})
        raise typer.Exit(exit_of(error)) from None
    finally:
        session.close()


def _log_in(session: Session, error: ClientError) -> str | None:
    """How to get a token that the service accepts."""
    if not isinstance(error, ApiError) or error.code != "unauthenticated" or not session.connected:
        return None
    if session.profile is None and of_variables(session.environment).token is not None:
        return "The token is that of IPUCLOUD_TOKEN. Correct it, or unset it and log in: ipucloud login"
    name = chosen(session.environment, session.profile)
    return "Log in: ipucloud login" + ("" if name == DEFAULT else f" --profile {name}")


def _who_may(session: Session, error: ClientError, command: str) -> str | None:
    """How to do what the token's role does not allow: with a stored profile, or by storing one.

    Of a narrowed token the refusal says all there is: its role would do.
    """
    if not isinstance(error, ApiError) or error.code != "permission_denied":
        return None
    roles = error.document.get("roles")
    if not isinstance(roles, list) or "scope" in error.document:
        return None
    for name, profile in stored_profiles(session.environment).items():
        if profile.role in roles and profile.url == session.configured.url:
            return f"Profile {name} has the role {profile.role}: add --profile {name}."
    way = "To use such a token: `ipucloud login --profile NAME`, then add --profile NAME."
    if not _PLATFORM_ROLES.issuperset(roles):
        return way
    return f"A platform administrator can run `{command}` with the same arguments. {way}"


def _document(error: ClientError) -> object:
    if isinstance(error, ApiError):
        return dict(error.document) or {"status": error.status, "code": error.code, "detail": error.detail}
    if isinstance(error, OperationFailedError) and error.operation.error is not None:
        return error.operation.error
    return {"code": _code(error), "detail": error.detail}


def _code(error: ClientError) -> str:
    """The class as a code: UnreachableError → unreachable."""
    words = type(error).__name__.removesuffix("Error")
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in words).lstrip("_")


def own_account(session: Session) -> str | None:
    """The account of a payer's token."""
    me = session.run(sdk.tokens.whoami()).token
    return None if me is None or me.account_id is None else str(me.account_id)


def run_for_payers(session: Session, of_project: Call[Result], of_account: Callable[[], Call[Result]]) -> Result:
    """What the project gives, or what the account of a payer's token gives.

    A payer's token of the environment may come with the project of a stored profile.
    """
    if session.configured.project is None and own_account(session) is not None:
        return session.run(of_account())
    try:
        return session.run(of_project)
    except ApiError as error:
        if error.code != "not_found" or session.project or own_account(session) is None:
            raise
        return session.run(of_account())
