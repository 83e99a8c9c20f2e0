"""Parsing of command lines. An invalid one raises; it never ends the process, which may be a whole site."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import IO, NoReturn, TypeAlias


class Usage(Exception):
    """Invalid command line (status 2) or help (status 0), with the text to print."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


class Parser(argparse.ArgumentParser):
    """Raises Usage instead of printing."""

    def error(self, message: str) -> NoReturn:
        raise Usage(f"{self.format_usage()}{self.prog}: {message}\n", 2)

    def print_help(self, file: IO[str] | None = None) -> NoReturn:  # type: ignore[override]  # help ends parsing
        raise Usage(self.format_help(), 0)


Verbs: TypeAlias = "argparse._SubParsersAction[Parser]"


def new_parser(prog: str, description: str, *, admin: bool = False) -> Parser:
    """A command with the options that do without a verb. `admin`: it calls the administration endpoint."""
    parser = Parser(prog=prog, description=description, allow_abbrev=False)
    parser.set_defaults(verb=None, noun=None, admin=admin, api_client_cert_file=None, api_client_key_file=None)
    parser.add_argument("--version", action="store_true", help="version of this command")
    parser.add_argument("--server-version", action="store_true", help="version of the controller")
    _connection(parser, None, admin=admin)
    return parser


def shared_options(*, admin: bool = False) -> Parser:
    """The options of the connection, for use after a verb."""
    shared = Parser(add_help=False)
    # An option before the verb must not be reset by its absence after the verb.
    _connection(shared, argparse.SUPPRESS, admin=admin)
    return shared


def parsed(parser: Parser, args: Sequence[str]) -> argparse.Namespace:
    """The options; `verb` and `noun` are absent for `--version` and `--server-version`. Raises Usage."""
    options = parser.parse_args(args)
    if options.verb is None and not options.version and not options.server_version:
        raise Usage(parser.format_help(), 2)
    return options


def number(text: str) -> int:
    """A number of 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return int(text)


def count(text: str) -> int:
    """A number of 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)


def names(text: str) -> list[str]:
    """Names with commas between them."""
    return [name for name in text.split(",") if name]


def _connection(parser: Parser, default: str | None, *, admin: bool) -> None:
    add = parser.add_argument
    add("-H", "--api-host", default=default, metavar="HOST", help="controller's host (VIPU_CLI_API_HOST)")
    user_help, admin_help = "its port (VIPU_CLI_API_PORT; 8090)", "its port (VIPU_CLI_API_ADMIN_PORT; 8091)"
    spelt = ["--admin-port"] if admin else []
    port_help = admin_help if admin else user_help
    add("-P", "-p", "--api-port", *spelt, dest="api_port", default=default, metavar="PORT", help=port_help)
    add("--api-user-id", default=default, metavar="USER", help="user (VIPU_CLI_API_USER_ID)")
    add("--api-access-key", default=default, metavar="KEY", help="the user's key (VIPU_CLI_API_ACCESS_KEY)")
    add("--api-ca-file", default=default, metavar="FILE", help="its authority's certificate (VIPU_CLI_API_CA_FILE)")
    if admin:
        add("--api-client-cert-file", default=default, metavar="FILE", help="client certificate, with its key")
        add("--api-client-key-file", default=default, metavar="FILE", help="the key, if in a file of its own")
    add("--plaintext", action="store_const", const="true", default=default, help="no TLS: a key is sent unencrypted")
    add("--config", default=default, metavar="FILE", help="where these are (else /etc/vipu/vipu-cli.hcl, if it exists)")
    showjson_default = False if default is None else default
    add("--showjson", action="store_true", default=showjson_default, help="print JSON, whose format is stable")
