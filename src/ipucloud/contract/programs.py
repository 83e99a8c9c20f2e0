"""What jobs and services have in common: a program that the service starts on a Poplar server, and its output."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Generic, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from ipucloud.contract.fields import Answer, Body, Line, Shape, secret
from ipucloud.wire.images import MAX_REFERENCE, PATTERN, NotAReference, parse

MAX_CHARACTERS = 32_768
"""Of a command, and of an environment, together."""
MOST_LOG_ITEMS = 16
ONLY_NAMES = "Their values are stored encrypted; only their names are shown."


def _bounded(words: list[str]) -> list[str]:
    if sum(len(word) + 1 for word in words) > MAX_CHARACTERS:
        raise PydanticCustomError(
            "too_long", "The words have more than {most} characters together", {"most": MAX_CHARACTERS}
        )
    if not words[0]:
        raise PydanticCustomError("no_program", "The first word is the program's name or path")
    return words


def _bounded_environment(variables: dict[str, str]) -> dict[str, str]:
    if sum(len(name) + len(value) + 2 for name, value in variables.items()) > MAX_CHARACTERS:
        raise PydanticCustomError(
            "too_long", "The variables have more than {most} characters together", {"most": MAX_CHARACTERS}
        )
    return variables


def _image(text: str) -> str:
    try:
        parse(text)
    except NotAReference as refused:
        raise PydanticCustomError("not_an_image", str(refused)) from None
    return text


def _secret_map(schema: dict[str, object]) -> None:
    """A mapping with secret values. Code generators do not know `patternProperties`."""
    schema |= secret("values")
    patterns = schema.pop("patternProperties", None)
    if isinstance(patterns, dict):
        [(key, value)] = patterns.items()
        schema |= {"propertyNames": {"pattern": key}, "additionalProperties": value}


Text = Annotated[str, Field(max_length=MAX_CHARACTERS, pattern=r"^[^\x00]*$")]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,254}$")]
Environment = Annotated[
    dict[VariableName, Text],
    Field(max_length=100, json_schema_extra=_secret_map),
    AfterValidator(_bounded_environment),
]
Command = Annotated[list[Text], Field(min_length=1, max_length=256), AfterValidator(_bounded)]


Image = Annotated[
    str,
    Field(max_length=MAX_REFERENCE, json_schema_extra={"pattern": PATTERN}),
    AfterValidator(_image),
]


class RegistryLogin(Body):
    """A login at the registry of a container image."""

    username: Line = Field(description="Name of the user or token there.", examples=["ci"])
    password: Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00-\x1f\x7f]+$")] = Field(
        description="Password or token. It is stored encrypted until the program has ended, and never shown.",
        json_schema_extra=secret(),
        examples=["glpat-0123456789"],
        repr=False,
    )


Directory = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00]+$")]


class ProgramCreate(Body):
    """A program to start on a Poplar server of the cluster, as the server's user."""

    command: Command = Field(
        description="The program and its arguments; no shell reads them.",
        examples=[["python3", "train.py", "--epochs", "3"]],
    )
    directory: Directory | None = Field(
        None, description="Where it starts; relative to the user's home. Default: the home.", examples=["bert"]
    )
    environment: Environment = Field(
        {},
        description=f"Variables, beside those that a login has. {ONLY_NAMES}",
        examples=[{"SEED": "7"}],
    )
    poplar_server: str | None = Field(
        None, description="Name or id of the Poplar server; default: the cluster's first.", examples=["bert-p0"]
    )
    image: Image | None = Field(
        None,
        description="Container image that it runs in: `[HOST[:PORT]/]PATH[:TAG][@sha256:DIGEST]`, without a host one of"
        " Docker Hub. The image's variables and working directory hold, its entry point and user do not. Default: the"
        " server's own system.",
        examples=["ghcr.io/example/train:1.2"],
    )
    registry: RegistryLogin | None = Field(
        None,
        description="Login at the image's registry; default: the image is public.",
        json_schema_extra=secret("password"),
    )

    @model_validator(mode="after")
    def _a_login_is_for_an_image(self) -> Self:
        if self.registry is not None and self.image is None:
            raise PydanticCustomError("no_image", "A login at a registry needs the `image` that it is for")
        return self


class LogQuery(Shape):
    """Which part of a program's output."""

    after: Annotated[int, Field(ge=0, le=2_000_000_000)] = Field(
        0, description="Only parts after this number; `next` of the previous answer."
    )


class LogPart(Answer):
    """A part of what a program wrote."""

    number: int = Field(description="Number of the part, from 1 on.", examples=[1])
    attempt: int = Field(description="Which start of the program wrote it.", examples=[1])
    text: str = Field(
        description="What it wrote to standard output and standard error; what is not UTF-8 is replaced.",
        examples=["epoch 1: loss 0.31\n"],
    )
    read_at: datetime = Field(description="When it was read at the site.", examples=["2026-05-04T09:30:04Z"])


Part = TypeVar("Part", bound=LogPart)


class LogOut(Answer, Generic[Part]):
    """Output of a program, in order."""

    items: list[Part] = Field(description="Parts after `after`, at most 16.")
    next: int = Field(description="`after` of the request for what follows.", examples=[1])
