"""The directions of imports: the tree keeps every contract, and each contract notices when it is broken."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import grimp
import pytest
from importlinter.application.use_cases import read_user_options
from importlinter.configuration import configure
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.independence import IndependenceContract
from importlinter.contracts.layers import LayersContract
from importlinter.domain.contract import Contract

from tests.support.cases import all_cases

CHECKOUT = Path(__file__).parents[2]
SOURCE = CHECKOUT / "src" / "ipucloud"
configure()
OPTIONS = read_user_options(str(CHECKOUT / "pyproject.toml"))
CONTRACTS: list[dict[str, Any]] = OPTIONS.contracts_options
BY_ID = {contract["id"]: contract for contract in CONTRACTS}


class Breach(NamedTuple):
    """One import that `contract` forbids, in a module that is there or new; without it the module is one too many."""

    contract: str
    module: str
    imported: str | None = None


BREACHES = (
    Breach("layers", "ipucloud.db.base", "ipucloud.events.log"),
    Breach("layers", "ipucloud.quotas.store", "ipucloud.billing.metering.tables"),
    Breach("layers", "ipucloud.reconcile.wake", "ipucloud.events.log"),
    Breach("layers", "ipucloud.worker.tasks", "ipucloud.api.idempotency"),
    Breach("layers", "ipucloud.clusters.clean_up", "ipucloud.invariants.rules"),
    Breach("layers", "ipucloud.clusters.preemption.notices", "ipucloud.policies.idle"),
    Breach("layers", "ipucloud.clusters.resources.attachable", "ipucloud.programs.store"),
    Breach("layers", "ipucloud.programs.jobs.store", "ipucloud.policies.idle"),
    Breach("layers", "ipucloud.new_package"),
    Breach("layers", "ipucloud.contract.clusters", "ipucloud.catalogue.current"),
    Breach("layers", "ipucloud.api.new", "ipucloud.extras.scim.errors"),
    Breach("extras-unknown", "ipucloud.laboratory.up.new", "ipucloud.extras.mcp.confirming"),
    Breach("extras-apart", "ipucloud.extras.service_proxy.new", "ipucloud.extras.mcp.confirming"),
    Breach("http-only", "ipucloud.client.transport", "sqlalchemy"),
    Breach("http-only", "ipucloud.cli.commands.clusters", "ipucloud.db.engine"),
    Breach("http-only", "ipucloud.cli.output", "ipucloud.kernel.money"),
    Breach("api-no-site", "ipucloud.api.new", "ipucloud.site.connect"),
    Breach("api-no-site", "ipucloud.clusters.update", "ipucloud.site.connect"),
    Breach("light-workers", "ipucloud.billing.exports.requests", "pyarrow"),
    Breach("no-web-below", "ipucloud.quotas.store", "fastapi"),
    Breach("no-web-below", "ipucloud.worker.tasks", "fastapi"),
    Breach("billing-rooms", "ipucloud.billing.pricing.usage", "ipucloud.billing.ledger.close"),
    Breach("billing-rooms", "ipucloud.billing.new"),
    Breach("pure", "ipucloud.billing.invoices.arithmetic", "sqlalchemy"),
    Breach("pure", "ipucloud.clusters.states", "httpx"),
    Breach("pure", "ipucloud.contract.webhooks", "httpx"),
    Breach("pure", "ipucloud.inventory.allocator", "ipucloud.db.engine"),
    Breach("simulator-alone", "ipucloud.laboratory.simulator.hardware", "ipucloud.kernel.ids"),
    Breach("simulator-alone", "ipucloud.laboratory.simulator.images.store", "ipucloud.egress.urls"),
    Breach("simulator-alone", "ipucloud.laboratory.simulator.store", "ipucloud.laboratory.keeper.keeper"),
    Breach("laboratory-unknown", "ipucloud.worker.tasks", "ipucloud.laboratory.simulator.settings"),
    Breach("laboratory-unknown", "ipucloud.cli.service.admin", "ipucloud.laboratory.up.ports"),
    Breach("wire-bottom", "ipucloud.wire.new", "ipucloud.config"),
    Breach("process-bottom", "ipucloud.process.new", "ipucloud.wire.site"),
    Breach("vipu-cli-alone", "ipucloud.vipu_cli.new", "ipucloud.kernel.ids"),
)


@pytest.fixture(scope="module")
def tree() -> grimp.ImportGraph:
    return grimp.build_graph("ipucloud", include_external_packages=True, cache_dir=None)


def broken(tree: grimp.ImportGraph) -> set[str]:
    """The ids of the contracts that the tree breaks. A contract changes the graph that it checks."""
    kinds: dict[str, type[Contract]] = {
        "forbidden": ForbiddenContract,
        "independence": IndependenceContract,
        "layers": LayersContract,
    }
    return {
        each["id"]
        for each in CONTRACTS
        if not kinds[each["type"]](each["name"], OPTIONS.session_options, each)
        .check(deepcopy(tree), verbose=False)
        .kept
    }


def test_the_tree_keeps_every_contract_and_each_is_broken_on_purpose_here(tree: grimp.ImportGraph) -> None:
    assert broken(tree) == set()
    assert {breach.contract for breach in BREACHES} == BY_ID.keys()


def test_a_forbidden_import_breaks_its_contract_and_no_other(tree: grimp.ImportGraph) -> None:
    with all_cases() as case:
        for breach in BREACHES:
            with case(breach):
                changed = deepcopy(tree)
                changed.add_module(breach.module)
                if breach.imported:
                    assert breach.imported in tree.modules
                    changed.add_import(importer=breach.module, imported=breach.imported)
                assert broken(changed) == {breach.contract}


def parts(package: Path) -> set[str]:
    """What a package is made of, as dotted names."""
    children = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    dotted = ".".join(("ipucloud", *package.relative_to(SOURCE).parts))
    return {f"{dotted}.{name}" for name in children - {"__init__"}}


@pytest.mark.parametrize(
    ("contract", "listed", "left_out"),
    [
        # What a new part may do is decided when it is made, not when somebody remembers the lists.
        ("http-only", "forbidden_modules", {"ipucloud.cli", "ipucloud.client", "ipucloud.extras", "ipucloud.parts"}),
        ("laboratory-unknown", "source_modules", {"ipucloud.laboratory"}),
        ("wire-bottom", "forbidden_modules", {"ipucloud.wire"}),
        ("process-bottom", "forbidden_modules", {"ipucloud.process"}),
        ("vipu-cli-alone", "forbidden_modules", {"ipucloud.vipu_cli", "ipucloud.wire"}),
        (
            "no-web-below",
            "source_modules",
            # The settings of migrations know the API's table; the others are no features.
            {
                f"ipucloud.{name}"
                for name in ("api", "schema", "cli", "client", "extras", "laboratory", "vipu_cli", "wire")
            },
        ),
    ],
)
def test_a_contract_names_every_part_of_the_product(contract: str, listed: str, left_out: set[str]) -> None:
    named = {name for name in BY_ID[contract][listed] if name.startswith("ipucloud.")}
    assert named == parts(SOURCE) - left_out


def test_the_simulator_shares_nothing_with_any_part_but_what_a_real_site_would() -> None:
    named = {name for name in BY_ID["simulator-alone"]["forbidden_modules"] if name.startswith("ipucloud.")}
    shared = {f"ipucloud.{name}" for name in ("vipu_cli", "wire", "process", "egress")}
    product = parts(SOURCE) - shared - {"ipucloud.laboratory"}
    assert named == product | (parts(SOURCE / "laboratory") - {"ipucloud.laboratory.simulator"})


def test_every_part_of_the_command_line_but_the_service_and_vipu_commands_speaks_http_only() -> None:
    named = {name for name in BY_ID["http-only"]["source_modules"] if name.startswith("ipucloud.cli.")}
    assert named == parts(SOURCE / "cli") - {"ipucloud.cli.service", "ipucloud.cli.vipu"}
