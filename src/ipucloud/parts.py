"""The optional parts of the product, each a package below `ipucloud.extras`: the one place that names them.

An installation may lack a part, or what it needs of other distributions; processes start without it, and say so where
it is asked for. Nothing of a part is imported before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any

EXTRAS = "ipucloud.extras"


@dataclass(frozen=True)
class Part:
    """`name`: of its package. `title`: in sentences. `needs`: modules of other distributions, which its extra brings.

    `nouns`: its modules of routes, with the paths at or below which these are.
    `errors_below`: where errors have a form of its own, which `errors.response` gives them.
    `tasks`: functions of its modules that workers run, with the database and the settings, every so many seconds.
    `settings`: those that nothing reads without it.
    `running`: whether API processes hold what its module `running` makes of their services.
    """

    name: str
    title: str
    needs: tuple[str, ...] = ()
    nouns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tasks: Mapping[str, float] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    errors_below: str | None = None
    running: bool = False

    @property
    def extra(self) -> str:
        """The extra of the distribution that brings what it needs."""
        return self.name.replace("_", "-")

    @cached_property
    def installed(self) -> bool:
        return all(map(_is_there, (f"{EXTRAS}.{self.name}", *self.needs)))

    @property
    def absence(self) -> str:
        """What is said to those who ask for it in vain."""
        return f"{self.title} is not part of this installation. Its operator can add it: pip install '.[{self.extra}]'."

    def module(self, name: str) -> str:
        """The full name of one of its modules."""
        return f"{EXTRAS}.{self.name}.{name}"

    def load(self, name: str) -> Any:  # Any: what the module declares is checked there
        """What `module:name` is. Raises ModuleNotFoundError unless it is installed."""
        return resolve_name(self.module(name))


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its package is not there
        return False


_SERVICE = "/v1/projects/*/clusters/*/services/*"
MCP = Part("mcp", "The server for assistants (MCP)", ("mcp",))
SCIM = Part("scim", "SCIM", ("scim2_models",), nouns={"routing": ("/scim/v2",)}, errors_below="/scim/")
SERVICE_PROXY = Part(
    "service_proxy",
    "The way through the API to programs of services",
    nouns={"routes": (f"{_SERVICE}/proxy",)},
    running=True,
)
_ACCOUNT = "/v1/billing/accounts/*"
_INVOICES = ("/v1/projects/*/billing/invoices", "/v1/billing/invoices")
STRIPE = Part(
    "stripe",
    "Payment by Stripe",
    ("stripe",),
    nouns={"routes": (f"{_ACCOUNT}/payment-method",)},
    tasks={"tasks:find_taken_back": 900.0},
    settings=("stripe_secret_key", "stripe_secret_key_file"),
)
E_INVOICES = Part(
    "e_invoices",
    "Writing PDF and electronic invoices",
    (
        *("facturx", "fontTools", "fpdf", "lxml", "uharfbuzz"),
        *("justmytype_intl_rtl", "noto_cjk_sans_jp_regular", "ttf_opensans"),
    ),
)
PROOFS = Part(
    "proofs",
    "Proofs of bills",
    nouns={"routes": (*(f"{each}/*/proof" for each in _INVOICES), "/v1/billing/proof-keys")},
    tasks={"tasks:prove_bills": 60.0},
)
PARTS = (MCP, SCIM, SERVICE_PROXY, STRIPE, E_INVOICES, PROOFS)


def installed() -> list[str]:
    """The names of the parts that are there."""
    return [part.name for part in PARTS if part.installed]


def unmet(settings: object) -> Iterator[str]:
    """What is said of settings that are set for a part which is not there."""
    for part in PARTS:
        for name in part.settings:
            if not part.installed and getattr(settings, name) is not None:
                yield f"IPUCLOUD_{name.upper()} is set. {part.absence}"
