"""What programs do with the service: the documentation's examples, and a client generated from the OpenAPI document."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from openapi_python_client import generate
from openapi_python_client.config import Config, ConfigFile, MetaType

from ipucloud.client import Client, clusters, ssh_keys
from tests.support.examples import PROJECT, Example, examples
from tests.support.openssh import make_key
from tests.support.processes import Up, ipucloud_processes, up
from tests.support.waiting import eventually

EXAMPLES = list(examples())


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A running `ipucloud up` whose site is as fast as it can be."""
    folder = tmp_path_factory.mktemp("programs")
    with ipucloud_processes(folder) as started, up(started, folder / "data", "--time-scale", "0") as running:
        yield running


@pytest.fixture
def laptop(tmp_path: Path) -> str:
    """The public key in `~/.ssh`."""
    (tmp_path / ".ssh").mkdir()
    return make_key(tmp_path / ".ssh", "id_ed25519").public_line


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_example_runs(example: Example, system: Up, tmp_path: Path, laptop: str) -> None:
    with Client(system.facts["url"], system.facts["token"]) as client:
        for cluster in client.items(clusters.list()):
            client.wait(client.run(clusters.delete(cluster.id)), patience=120.0)
        for key in client.items(ssh_keys.list()):
            client.run(ssh_keys.delete(key.id))
        if "ssh_keys.create(" not in example.program:
            client.run(ssh_keys.create("laptop", laptop))
    environment = {**system.environment, "HOME": str(tmp_path), "PYTHONWARNINGS": "error"}
    command = [sys.executable, "-c", example.program]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert ended.returncode == 0, ended.stderr


def test_the_examples_are_typed(tmp_path: Path) -> None:
    files = []
    for number, example in enumerate(EXAMPLES):
        files.append(tmp_path / f"example_{number}.py")
        files[-1].write_text(f"# {example}\n{example.program}")
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", *map(str, files)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False, cwd=PROJECT, timeout=600)
    assert checked.returncode == 0, checked.stdout


@pytest.fixture
def generated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module of the package `generated`, by its name below it."""
    document = PROJECT / "docs" / "openapi.json"
    options = ConfigFile(post_hooks=[])
    config = Config.from_sources(options, MetaType.NONE, document, "utf-8", False, tmp_path / "generated")
    assert list(generate(config=config)) == []
    monkeypatch.syspath_prepend(tmp_path)
    return lambda name: import_module(f"generated.{name}")


@pytest.fixture
def customer(generated: Any, system: Up) -> Iterator[Any]:
    """The generated client, as the project's owner."""
    client = generated("client").AuthenticatedClient(base_url=system.facts["url"], token=system.facts["token"])
    with client:
        yield client


def test_a_generated_client_makes_the_journey(generated: Any, customer: Any, laptop: str) -> None:
    models = generated("models")

    def run(name: str, *path: str, noun: str = "clusters", **arguments: Any) -> Any:
        answer = generated(f"api.{noun}.{name}").sync_detailed(*path, client=customer, **arguments)
        assert answer.status_code < 300, answer.content
        return answer.parsed

    project = run("whoami", noun="whoami").project.slug
    run("create_ssh_key", project, noun="ssh_keys", body=models.SshKeyCreate(name="generated", public_key=laptop))
    [image, *_] = run("list_images", noun="images", region="luxembourg-2").items
    tags = models.ClusterCreateTags.from_dict({"team": "nlp"})
    bert = models.ClusterCreate(
        "m2000-pod16", image.name, "generated", "luxembourg-2", ssh_keys=["generated"], tags=tags
    )
    assert run("estimate_cluster", project, body=bert).capacity.available
    operation = run("create_cluster", project, body=bert)

    def done() -> bool:
        return bool(run("get_operation", project, operation.id, noun="operations", wait=20.0).done)

    eventually(done, "the cluster is created")
    active = run("list_clusters", project, state=[models.ClusterState.ACTIVE])
    assert "generated" in [each.name for each in active.items]
    cluster = run("get_cluster", project, "generated")
    assert (cluster.ipus, cluster.tags["team"], cluster.poplar_servers[0].ssh.user) == (16, "nlp", "ubuntu")
    assert run("delete_cluster", project, "generated").kind == "cluster.delete"
