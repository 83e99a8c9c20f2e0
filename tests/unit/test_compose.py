"""docker-compose.yml and the Dockerfile against what the product really has: commands, settings, files, roles."""

import os
import re
import subprocess
import sys
import tomllib
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from ipucloud.cli.main import COMMANDS
from ipucloud.config import Settings
from ipucloud.db.roles import APP_ROLE, OWNER_ROLE
from ipucloud.kernel.sealing import read_keys

PROJECT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((PROJECT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"].startswith("ipucloud:")}
PROGRAMS = {name: service for name, service in OURS.items() if name != "key"}
KEY_FOLDER = "/var/lib/ipucloud/secrets"
CADDYFILE = (PROJECT / "deploy" / "caddy" / "Caddyfile").read_text()
PROMETHEUS: dict[str, Any] = yaml.safe_load((PROJECT / "deploy" / "prometheus" / "prometheus.yml").read_text())
KNOWN_KEYS = {
    "build",
    "cap_add",
    "cap_drop",
    "command",
    "depends_on",
    "deploy",
    "entrypoint",
    "environment",
    "healthcheck",
    "image",
    "init",
    "networks",
    "ports",
    "read_only",
    "restart",
    "security_opt",
    "shm_size",
    "stop_grace_period",
    "tmpfs",
    "volumes",
}
"""Of the Compose Specification's keys of a service, those used here."""
SCRIPTS = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["scripts"]
ROLES_SQL = (PROJECT / "deploy" / "roles.sql").read_text()

INSTRUCTIONS = [
    line.split(maxsplit=1)
    for line in (PROJECT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    if line.strip()
]

each_program = pytest.mark.parametrize("name", PROGRAMS)
each_of_ours = pytest.mark.parametrize("name", OURS)
each_service = pytest.mark.parametrize("name", SERVICES)


def default_of(value: object) -> str:
    """The value with every `${NAME:-default}` at its default."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", str(value))


def environment(name: str) -> dict[str, str]:
    """Its variables as its program sees them: an empty secrets key is replaced by the one of the volume."""
    given = {key: default_of(value) for key, value in SERVICES[name].get("environment", {}).items()}
    return given | ({"IPUCLOUD_SECRETS_KEY": "A" * 43} if "IPUCLOUD_SECRETS_KEY" in given else {})


def replicas(name: str) -> int:
    return int(SERVICES[name].get("deploy", {}).get("replicas", 1))


def test_two_of_each_process_share_one_database_and_one_site() -> None:
    commands = [service["command"][:2] for name, service in OURS.items() for _ in range(replicas(name))]
    assert commands.count(["ipucloud", "api"]) == 2
    assert commands.count(["ipucloud", "worker"]) == 2
    assert commands.count(["ipucloud", "migrate"]) == 1
    assert [command[0] for command in commands].count("ipucloud-sim") == 1


@each_program
def test_every_command_is_one_the_package_installs(name: str) -> None:
    program, *arguments = SERVICES[name]["command"]
    assert program in SCRIPTS
    if program == "ipucloud":
        assert arguments[0] in {entry.name for entry in COMMANDS}
    else:
        module = SCRIPTS[program].partition(":")[0]
        usage = subprocess.run(
            [sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=True
        ).stdout
        assert {option for option in arguments if option.startswith("--")} <= set(re.findall(r"--[a-z-]+", usage))


@each_of_ours
def test_every_setting_is_one_the_product_reads(name: str) -> None:
    known = {f"IPUCLOUD_{field.upper()}" for field in Settings.model_fields}
    assert {key for key in environment(name) if key.startswith("IPUCLOUD_")} <= known


@each_of_ours
def test_the_settings_of_a_service_are_valid(name: str) -> None:
    given = {key.removeprefix("IPUCLOUD_").lower(): value for key, value in environment(name).items()}
    Settings.model_validate(given)


def test_the_database_passes_the_passwords_that_its_script_asks_for() -> None:
    asked = set(re.findall(r"^\\getenv \w+ (\w+)$", ROLES_SQL, re.MULTILINE))
    assert asked == {key for key in environment("database") if key.startswith("IPUCLOUD_")}


@each_of_ours
def test_services_work_as_the_application_and_only_migrations_as_the_owner(name: str) -> None:
    passwords = environment("database")
    expected = {
        "IPUCLOUD_DATABASE_URL": (APP_ROLE, passwords["IPUCLOUD_APP_PASSWORD"]),
        "IPUCLOUD_MIGRATION_DATABASE_URL": (OWNER_ROLE, passwords["IPUCLOUD_OWNER_PASSWORD"]),
    }
    found = {key: urlsplit(value) for key, value in environment(name).items() if key.endswith("DATABASE_URL")}
    assert {key: (url.username, url.password) for key, url in found.items()} == {key: expected[key] for key in found}
    assert all((url.hostname, url.path) == ("database", "/ipucloud") for url in found.values())
    assert ("IPUCLOUD_MIGRATION_DATABASE_URL" in found) == (name == "migrate")


def test_the_workers_call_the_address_the_simulated_site_listens_on() -> None:
    address = SERVICES["simulator"]["networks"]["control"]["ipv4_address"]
    command = SERVICES["simulator"]["command"]
    options = dict(zip(command[1::2], command[2::2], strict=True))
    assert options["--bind"] == address
    assert environment("worker")["IPUCLOUD_SITE_URL"] == f"http://{address}:{options['--http-port']}"
    assert environment("worker")["IPUCLOUD_SITE_TOKEN"] == environment("simulator")["IPUCLOUD_SITE_TOKEN"]


@each_service
def test_what_a_service_waits_for_can_happen(name: str) -> None:
    for target, desired_state in SERVICES[name].get("depends_on", {}).items():
        if desired_state["condition"] == "service_healthy":
            assert "healthcheck" in SERVICES[target]
        else:
            assert desired_state["condition"] == "service_completed_successfully"
            assert "restart" not in SERVICES[target]


@each_service
def test_what_keeps_running_has_a_health_check_and_comes_back(name: str) -> None:
    if name not in {"migrate", "key"}:
        assert SERVICES[name]["healthcheck"]["test"][0] == "CMD"
        assert SERVICES[name]["restart"] == "unless-stopped"


@pytest.mark.parametrize(("name", "variable"), [("api1", "INTERNAL_PORT"), ("worker", "WORKER_INTERNAL_PORT")])
def test_health_is_asked_on_the_internal_listener(name: str, variable: str) -> None:
    probe = " ".join(SERVICES[name]["healthcheck"]["test"])
    assert f":{environment(name)[f'IPUCLOUD_{variable}']}/" in probe


def test_internal_listeners_are_reachable_for_prometheus_alone() -> None:
    assert ip_address(Settings.model_fields["internal_host"].default).is_loopback
    assert all("IPUCLOUD" not in rest for word, rest in INSTRUCTIONS if word == "ENV")
    assert {environment(name).get("IPUCLOUD_INTERNAL_HOST") for name in ("api1", "api2", "worker")} == {"0.0.0.0"}  # noqa: S104
    internal = {environment("api1")["IPUCLOUD_INTERNAL_PORT"], environment("worker")["IPUCLOUD_WORKER_INTERNAL_PORT"]}
    published = {port.rpartition(":")[2] for service in SERVICES.values() for port in service.get("ports", [])}
    assert not internal & published
    assert not [port for port in internal if f":{port}" in CADDYFILE]


def test_prometheus_collects_from_every_process() -> None:
    [job] = PROMETHEUS["scrape_configs"]
    [apis], [workers] = job["static_configs"], job["dns_sd_configs"]
    port = environment("api1")["IPUCLOUD_INTERNAL_PORT"]
    assert apis["targets"] == [f"{name}:{port}" for name in OURS if SERVICES[name]["command"] == ["ipucloud", "api"]]
    assert (workers["names"], str(workers["port"])) == (
        ["worker"],
        environment("worker")["IPUCLOUD_WORKER_INTERNAL_PORT"],
    )
    mounted = {Path(volume.split(":")[1]).name for volume in SERVICES["prometheus"]["volumes"]}
    assert set(PROMETHEUS["rule_files"]) <= mounted


def test_the_proxy_passes_requests_to_every_api_process_that_trusts_it() -> None:
    [upstreams] = re.findall(r"reverse_proxy (.+) \{", CADDYFILE)
    apis = [name for name in OURS if SERVICES[name]["command"] == ["ipucloud", "api"]]
    assert upstreams.split() == [f"{name}:{environment(name)['IPUCLOUD_PORT']}" for name in apis]
    address = SERVICES["proxy"]["networks"]["control"]["ipv4_address"]
    assert {environment(name)["IPUCLOUD_TRUSTED_PROXIES"] for name in apis} == {address}
    idle = Settings.model_fields["idle_timeout"].default
    assert [float(seconds) < idle for seconds in re.findall(r"keepalive (\d+)s", CADDYFILE)] == [True]


def shell(script: str, folder: Path, *arguments: str, **variables: str) -> str:
    """What a shell command of the file prints, with the volume of the key at `folder`."""
    text = script.replace("$$", "$").replace(KEY_FOLDER, str(folder))
    done = subprocess.run(
        ["sh", "-euc", text, *arguments],
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_the_secrets_key_is_made_once_and_given_to_every_process_that_needs_it(tmp_path: Path) -> None:
    make = SERVICES["key"]["command"][-1]
    shell(make, tmp_path)
    made = (tmp_path / "key").read_text()
    shell(make, tmp_path)
    assert (tmp_path / "key").read_text() == made
    assert (tmp_path / "key").stat().st_mode & 0o077 == 0
    assert read_keys(made)
    show = ("printenv", "IPUCLOUD_SECRETS_KEY")
    for name in ("api1", "api2", "worker"):
        entry = SERVICES[name]["entrypoint"]
        assert entry[:2] == ["sh", "-euc"]
        assert SERVICES[name]["depends_on"]["key"]["condition"] == "service_completed_successfully"
        assert shell(entry[2], tmp_path, *show, IPUCLOUD_SECRETS_KEY="").strip() == made
        assert shell(entry[2], tmp_path, *show, IPUCLOUD_SECRETS_KEY="B" * 43).strip() == "B" * 43
    with pytest.raises(subprocess.CalledProcessError):
        shell(SERVICES["api1"]["entrypoint"][2], tmp_path / "lost", *show)


@each_service
def test_a_service_has_no_key_that_compose_does_not_know(name: str) -> None:
    assert set(SERVICES[name]) - KNOWN_KEYS == set()
    assert set(COMPOSE) - {"name", "services", "volumes", "networks"} == {
        key for key in COMPOSE if key.startswith("x-")
    }


@pytest.mark.parametrize("name", ["api1", "api2"])
def test_an_api_is_published_on_a_port_of_its_own(name: str) -> None:
    published = [port.split(":") for api in ("api1", "api2") for port in SERVICES[api]["ports"]]
    assert len({host for _, host, _ in published}) == len(published)
    assert {inside for _, _, inside in published} == {environment(name)["IPUCLOUD_PORT"]}


def test_images_are_pinned_and_ours_is_built_once() -> None:
    images = [service["image"] for service in SERVICES.values()]
    images += [rest.split()[0] for word, rest in INSTRUCTIONS if word == "FROM"]
    assert all(re.fullmatch(r"[\w./-]+:v?\d+(\.\d+)+(-[a-z-]+)?", image) for image in images), images
    assert [name for name, service in SERVICES.items() if "build" in service] == ["migrate"]
    assert len({service["image"] for service in OURS.values()}) == 1


def test_files_and_volumes_named_exist() -> None:
    mounts = [volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])]
    for source in mounts:
        assert (PROJECT / source).is_file() if source.startswith("./") else source in COMPOSE["volumes"]
    copied = [rest.split()[:-1] for word, rest in INSTRUCTIONS if word == "COPY" and not rest.startswith("--from")]
    missing = [path for paths in copied for path in paths if not (PROJECT / path).exists()]
    assert not missing


def test_what_the_image_copies_is_not_ignored() -> None:
    allowed = {
        line.removeprefix("!") for line in (PROJECT / ".dockerignore").read_text().splitlines() if line.startswith("!")
    }
    copied = [rest.split()[:-1] for word, rest in INSTRUCTIONS if word == "COPY" and not rest.startswith("--from")]
    paths = [path for given in copied for path in given]
    assert {path if path in allowed else path.split("/")[0] for path in paths} == allowed


def test_the_image_takes_hashed_packages_only_and_runs_without_rights() -> None:
    installs = [
        part for word, rest in INSTRUCTIONS if word == "RUN" for part in rest.split("&&") if "pip install" in part
    ]
    assert installs
    assert all("--require-hashes" in part or "--no-index" in part for part in installs)
    final_stage = INSTRUCTIONS[max(index for index, (word, _) in enumerate(INSTRUCTIONS) if word == "FROM") :]
    assert [rest for word, rest in final_stage if word == "USER"] == ["ipucloud"]
