"""What the API answers, as typed values. An unknown field or enum value never breaks reading."""

from importlib import import_module
from typing import TYPE_CHECKING

from ipucloud.client.models.base import Answer as Answer
from ipucloud.client.models.base import ExportFile as ExportFile
from ipucloud.client.models.base import ExportManifest as ExportManifest
from ipucloud.client.models.base import Money as Money
from ipucloud.client.models.base import Page as Page
from ipucloud.client.models.base import Problem as Problem
from ipucloud.client.models.generated import MODULE_OF

if TYPE_CHECKING:
    from ipucloud.client.models.generated import *  # noqa: F403  # they are as many as the API's answers


def __getattr__(name: str) -> object:
    """A generated model, imported when it is first used: there are hundreds, and a program reads few of them."""
    if name not in MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.generated.{MODULE_OF[name]}")
    model = globals()[name] = getattr(module, name)
    return model


def __dir__() -> list[str]:
    return sorted({*globals(), *MODULE_OF})
