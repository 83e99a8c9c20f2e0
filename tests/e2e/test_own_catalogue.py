"""A region with a machine type of its own, sold and no longer sold by running processes: a directory and a signal."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ipucloud.client import ApiError, Client, clusters, ssh_keys, tokens
from ipucloud.client.clusters import NewCluster
from ipucloud.client.models import Operation
from ipucloud.wire.site import Ssh
from tests.process.services import Service, service
from tests.support.catalogues import FLAVOR, MACHINE_TYPE, PRICE_PER_MINUTE, REGION, export, with_frankfurt
from tests.support.machine import Need, needs
from tests.support.openssh import OpenSsh, make_key
from tests.support.postgres import Database
from tests.support.processes import Ipucloud
from tests.support.site import RunningSite, running_site
from tests.support.waiting import eventually

PATIENCE = 180.0
IMAGE = "ubuntu-20.04-x64-poplar-1.18.0-3.0.0"
WANTED = NewCluster("bert", region=REGION, flavor=FLAVOR, image=IMAGE, ssh_keys=["laptop"])


@dataclass
class Operator:
    """Who runs an API process and a worker on one catalogue, a symbolic link that can be switched."""

    ipucloud: Ipucloud
    settings: dict[str, str]
    processes: dict[str, Service]
    tokens: dict[str, str]

    def switch(self, directory: Path) -> None:
        """Let the link lead to another directory, and tell the processes."""
        link = Path(self.settings["IPUCLOUD_CATALOGUE"])
        new = link.with_suffix(".new")
        new.symlink_to(directory)
        new.replace(link)
        for process in self.processes.values():
            process.process.send_signal(signal.SIGHUP)

    def sells(self, directory: Path) -> None:
        """Switch, and wait until both processes have the directory's catalogue."""
        self.switch(directory)
        self.await_digest(self.check(str(directory))["digest"], refused=False)

    def await_digest(self, digest: str, *, refused: bool) -> None:
        """Wait until both processes tell that they have this catalogue, and whether they refused a newer one."""
        state = (digest, refused)
        eventually(lambda: all(shown(each) == state for each in self.processes.values()), f"both show {state}")

    def check(self, *arguments: str) -> Any:
        return self.ipucloud.json("catalogue", "check", *arguments, **self.settings)

    def allow(self, *limits: tuple[str, str, int]) -> None:
        """Replace the project's quotas."""
        api = self.processes["api"].outside
        path, token = "/v1/projects/research/quotas", {"Authorization": f"Bearer {self.tokens['admin']}"}
        tag = api.get(path, headers=token).headers["ETag"]
        items = [{"region": region, "machine_type": kind, "limit": limit} for region, kind, limit in limits]
        answer = api.put(path, json={"items": items}, headers={**token, "If-Match": tag})
        assert answer.status_code == 200, answer.text

    def customer(self) -> Client:
        return Client(str(self.processes["api"].outside.base_url), self.tokens["owner"])


def shown(process: Service) -> tuple[str, bool]:
    """The digest that a process tells in its readiness, and whether it refused a newer catalogue."""
    digest = process.inside.get("/readyz").json()["catalogue"]
    metrics = process.inside.get("/metrics").text
    assert f'catalogue_info{{digest="{digest}",origin="directory"}} 1.0' in metrics
    return digest, "catalogue_refused 1.0" in metrics


@pytest.fixture
def site(tmp_path: Path) -> Iterator[RunningSite]:
    with running_site(
        tmp_path / "site", machines=2, options=["--servers", "0", "--region", f"{REGION}:{MACHINE_TYPE}"]
    ) as running:
        yield running


@pytest.fixture
def operator(ipucloud: Ipucloud, site: RunningSite, database: Database, tmp_path: Path) -> Iterator[Operator]:
    """Processes that were started with a copy of the shipped catalogue."""
    first, link = tmp_path / "first", tmp_path / "catalogue"
    with ipucloud.start("catalogue", "export", str(first)) as exporting:
        assert exporting.wait(60) == 0
    link.symlink_to(first)
    settings = {
        "IPUCLOUD_DATABASE_URL": database.app_url,
        "IPUCLOUD_SITE_URL": site.url,
        "IPUCLOUD_SITE_TOKEN": site.token,
        "IPUCLOUD_VIPU_CLIENT_CERTIFICATE": site.client_files,
        "IPUCLOUD_CATALOGUE": str(link),
        "IPUCLOUD_CONSTANTS": '{"site_poll_interval": 0.1}',
        "IPUCLOUD_REQUEST_LIFE": "2",
        "IPUCLOUD_VALIDATION": "",
    }
    credentials = ipucloud.json("bootstrap", "--project", "research", **settings)
    ipucloud.json("site", "sync", **settings)
    with ExitStack() as stack:
        log = stack.enter_context((tmp_path / "log").open("wb")).fileno()
        processes = {
            kind: stack.enter_context(service(kind, log, tmp_path, database.app_url, **settings))
            for kind in ("api", "worker")
        }
        tokens = {name: credentials[f"{name}_token"] for name in ("admin", "owner")}
        yield Operator(ipucloud, settings, processes, tokens)


def succeeded(client: Client, operation: Operation) -> None:
    client.wait(operation, patience=PATIENCE)


def test_one_that_is_not_valid_is_refused_and_the_old_one_stays(operator: Operator, tmp_path: Path) -> None:
    first = operator.check()["digest"]
    broken = export(tmp_path / "broken")
    (broken / "regions.toml").unlink()
    operator.switch(broken)
    operator.await_digest(first, refused=True)
    log = tmp_path / "log"
    eventually(lambda: log.read_text().count('"event": "catalogue_refused"') == 2, "both log the refusal")
    assert "regions.toml: the file cannot be read: No such file or directory" in log.read_text()
    with operator.customer() as client:
        assert client.run(tokens.whoami()).role == "owner"
    operator.sells(with_frankfurt(tmp_path / "second"))


@needs(Need.OPENSSH)
def test_a_region_is_added_sold_and_given_up_without_a_restart(operator: Operator, tmp_path: Path) -> None:
    first = tmp_path / "first"
    assert f"2 {MACHINE_TYPE} machines in {REGION}: no flavor sells them." in operator.check("--database")["notes"]
    with operator.customer() as client:
        added = with_frankfurt(tmp_path / "second")
        [note] = [note for note in operator.check(str(added), "--database")["notes"] if FLAVOR in note]
        assert "has no price in frankfurt-1 in EUR now" in note
        operator.sells(added)
        assert operator.ipucloud.json("catalogue", "install-prices", **operator.settings)["added"] == 1
        assert operator.ipucloud.json("catalogue", "install-prices", **operator.settings)["added"] == 0
        assert [note for note in operator.check("--database")["notes"] if REGION in note] == []
        operator.allow(("luxembourg-2", "m2000", 64), (REGION, MACHINE_TYPE, 2))

        key = make_key(tmp_path)
        client.run(ssh_keys.create("laptop", key.public_line))
        creation = client.run(clusters.create(WANTED))
        succeeded(client, creation)
        cluster = client.run(clusters.get(creation.target.id))
        assert cluster.price_per_minute is not None
        assert cluster.price_per_minute.amount == 2 * Decimal(PRICE_PER_MINUTE)
        [server] = cluster.poplar_servers
        assert server.ssh is not None
        login = OpenSsh(Ssh.model_validate({**server.ssh.model_dump(), "fingerprint": ""}), key, tmp_path / "known")
        assert b"-+- Id: [14], target: [Multi IPU]" in login.ssh("gc-info -l").stdout

        eventually(lambda: client.run(clusters.usage(cluster.id)).minutes > 0, "its first minute is billed")

        operator.sells(first)
        [note] = [note for note in operator.check("--database")["notes"] if "are unaffected" in note]
        assert note == f"1 cluster is a {FLAVOR} in {REGION}, which is not sold there. Clusters are unaffected."
        with pytest.raises(ApiError) as refused:
            client.run(clusters.create(NewCluster("more", region=REGION, flavor=FLAVOR, image=IMAGE)))
        assert refused.value.code == "validation_failed"
        assert [each.id for each in client.items(clusters.list(region=REGION))] == [cluster.id]
        assert client.run(clusters.get(cluster.id)).price_per_minute == cluster.price_per_minute
        operator.allow(("luxembourg-2", "m2000", 32), (REGION, MACHINE_TYPE, 2))
        succeeded(client, client.run(clusters.suspend(cluster.id)))
        succeeded(client, client.run(clusters.resume(cluster.id)))
        succeeded(client, client.run(clusters.delete(cluster.id)))

        used = client.run(clusters.usage(cluster.id))
        assert used.minutes > 0
        assert used.cost.amount == used.minutes * cluster.price_per_minute.amount
        assert (used.region, {part.sku for part in used.slices}) == (REGION, {"ipu-rack-4"})
    eventually(lambda: free(operator) == 2, "the machines are free again")
    audit = operator.ipucloud.json("admin", "audit", **operator.settings)
    assert (audit["clean"], audit["site"]) == (True, True)


def free(operator: Operator) -> int:
    """Machines of the project's quota for the region that nothing holds."""
    api, token = operator.processes["api"].outside, {"Authorization": f"Bearer {operator.tokens['owner']}"}
    quotas = api.get("/v1/projects/research/quotas", headers=token).json()["items"]
    [quota] = [each for each in quotas if each["region"] == REGION]
    return int(quota["limit"] - quota["used"])


@pytest.mark.parametrize("command", [["api"], ["worker"], ["bootstrap"], ["catalogue", "install-prices"]])
def test_nothing_starts_with_one_that_is_not_valid(
    ipucloud: Ipucloud, database: Database, tmp_path: Path, command: list[str]
) -> None:
    with_frankfurt(tmp_path / "own")
    (tmp_path / "own" / "prices.toml").unlink()
    settings = {"IPUCLOUD_DATABASE_URL": database.app_url, "IPUCLOUD_SITE_URL": "http://127.0.0.1:9"}
    with ipucloud.start(*command, IPUCLOUD_CATALOGUE=str(tmp_path / "own"), **settings) as process:
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert f"The catalogue in {tmp_path / 'own'} is not valid. prices.toml: the file cannot be read" in err
    assert "Traceback" not in err
