"""docker-compose.yml and the Dockerfile against what the product really has: commands, settings, files, roles."""

import json
import os
import re
import subprocess
import sys
import tomllib
from ipaddress import ip_address
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from ipucloud.catalogue.load import load
from ipucloud.cli.main import COMMANDS
from ipucloud.config import Settings
from ipucloud.config.constants import Constants
from ipucloud.db.tenancy import APP_ROLE, OWNER_ROLE
from ipucloud.kernel.sealing import read_keys
from ipucloud.laboratory.simulator.ports import read_ports
from ipucloud.laboratory.up.programs import Published
from ipucloud.process import health

PROJECT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((PROJECT / "docker-compose.yml").read_text())
DATABASES: dict[str, Any] = yaml.safe_load((PROJECT / "deploy" / "compose" / "database.yml").read_text())["services"]
SERVICES: dict[str, dict[str, Any]] = {**COMPOSE["services"], "database": DATABASES["database"]}
IMAGES = ("ipucloud:", "ipucloud-laboratory:")
OURS = {name: service for name, service in SERVICES.items() if service["image"].startswith(IMAGES)}
PROGRAMS = {name: service for name, service in OURS.items() if name != "key"}
ONCE = {name for name, service in OURS.items() if "restart" not in service}
KEY_FOLDER = "/var/lib/ipucloud/secrets"
CADDYFILE = (PROJECT / "deploy" / "caddy" / "Caddyfile").read_text()
PROMETHEUS: dict[str, Any] = yaml.safe_load((PROJECT / "deploy" / "prometheus" / "prometheus.yml").read_text())
KNOWN_KEYS = {
    *("build", "cap_add", "cap_drop", "command", "depends_on", "deploy", "entrypoint"),
    *("environment", "healthcheck", "image", "init", "networks", "ports", "profiles"),
    *("read_only", "restart", "security_opt", "shm_size", "stop_grace_period", "tmpfs", "volumes"),
}
"""Of the Compose Specification's keys of a service, those used here."""
_PACKAGE = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
SCRIPTS, VERSION = _PACKAGE["scripts"], _PACKAGE["version"]
ROLES_SQL = (PROJECT / "deploy" / "roles.sql").read_text()

INSTRUCTIONS = [
    line.split(maxsplit=1)
    for line in (PROJECT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    if line.strip() and not line.startswith("#")
]

BASES = [rest.split()[0] for word, rest in INSTRUCTIONS if word == "FROM"]
_STARTS = [index for index, (word, _) in enumerate(INSTRUCTIONS) if word == "FROM"]
STAGES = {
    INSTRUCTIONS[start][1].split(" AS ")[1]: INSTRUCTIONS[start:end]
    for start, end in zip(_STARTS, [*_STARTS[1:], len(INSTRUCTIONS)], strict=True)
}
each_program = pytest.mark.parametrize("name", PROGRAMS)
each_of_ours = pytest.mark.parametrize("name", OURS)
each_service = pytest.mark.parametrize("name", SERVICES)


VARIABLES = sorted(
    {
        (name, default)
        for file in ("docker-compose.yml", "deploy/compose/database.yml")
        for name, default in re.findall(r"\$\{(\w+):-([^}]*)\}", (PROJECT / file).read_text())
    }
)
"""Of Compose, with their defaults."""


def default_of(value: object, **variables: str) -> str:
    """The value with every `${NAME:-default}` and `${NAME:+word}` as Compose has it with these variables."""
    text = re.sub(r"\$\{(\w+):-([^}]*)\}", lambda match: variables.get(match[1]) or match[2], str(value))
    return re.sub(r"\$\{(\w+):\+([^}]*)\}", lambda match: match[2] if variables.get(match[1]) else "", text)


def environment(name: str) -> dict[str, str]:
    """Its variables, with each variable of Compose at its default."""
    variables = SERVICES[name].get("environment", {})
    return {key: default_of(value) for key, value in variables.items() if value is not None}


def command(name: str) -> list[str]:
    return [default_of(word) for word in SERVICES[name]["command"]]


def options(name: str) -> dict[str, str]:
    """Those of its command that have a value."""
    words = command(name)
    return {word: value for word, value in pairwise(words) if word.startswith("--")}


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
    module = SCRIPTS[program].partition(":")[0]
    words = [word for word in arguments if re.fullmatch("[a-z]+", word)]
    usage = subprocess.run(
        [sys.executable, "-c", f"from {module} import main; main()", *words, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"], "COLUMNS": "200"},
    ).stdout
    assert {option for option in arguments if option.startswith("--")} <= set(re.findall(r"--[a-z-]+", usage))


@each_of_ours
def test_every_setting_is_one_the_product_reads(name: str) -> None:
    known = {f"IPUCLOUD_{field.upper()}" for field in Settings.model_fields.keys() - Constants.model_fields}
    assert {key for key in environment(name) if key.startswith("IPUCLOUD_")} <= known


@each_of_ours
def test_the_settings_of_a_service_are_valid(name: str) -> None:
    values = {key.removeprefix("IPUCLOUD_").lower(): value for key, value in environment(name).items() if value}
    values.pop("secrets_key_file", None)  # its volume is not here
    Settings.model_validate(values)


def test_the_database_passes_the_passwords_that_its_script_asks_for() -> None:
    read = set(re.findall(r"^\\getenv \w+ (\w+)$", ROLES_SQL, re.MULTILINE))
    assert read == {key for key in environment("database") if key.startswith("IPUCLOUD_")}


@each_of_ours
def test_services_work_as_the_application_and_only_migrations_as_the_owner(name: str) -> None:
    passwords = environment("database")
    expected = {
        "IPUCLOUD_DATABASE_URL": (APP_ROLE, passwords["IPUCLOUD_APP_PASSWORD"]),
        "IPUCLOUD_MIGRATION_DATABASE_URL": (OWNER_ROLE, passwords["IPUCLOUD_OWNER_PASSWORD"]),
    }
    urls = {key: urlsplit(value) for key, value in environment(name).items() if key.endswith("DATABASE_URL")}
    assert {key: (url.username, url.password) for key, url in urls.items()} == {key: expected[key] for key in urls}
    assert all((url.hostname, url.path) == ("database", "/ipucloud") for url in urls.values())
    assert ("IPUCLOUD_MIGRATION_DATABASE_URL" in urls) == (name == "migrate")


def test_the_control_plane_reaches_what_the_simulated_site_announces_for_others() -> None:
    site = options("simulator")
    for name in ("worker", "inventory"):
        assert environment(name)["IPUCLOUD_SITE_URL"] == f"http://simulator:{site['--http-port']}"
        assert environment(name)["IPUCLOUD_SITE_TOKEN"] == environment("simulator")["IPUCLOUD_SITE_TOKEN"]
    assert "--secure" in command("simulator")
    assert environment("worker")["IPUCLOUD_VIPU_ACCESS_KEY"] == environment("simulator")["IPUCLOUD_VIPU_ACCESS_KEY"]
    assert environment("worker")["IPUCLOUD_VIPU_CLIENT_CERTIFICATE"].startswith(site["--clients"])
    for name in ("api1", "api2", "worker"):
        reached = Settings(reached_at=environment(name)["IPUCLOUD_REACHED_AT"]).reached
        assert reached(site["--advertise"]) == "simulator"
    [published] = map(default_of, SERVICES["simulator"]["ports"])
    assert published == f"{site['--advertise']}:{site['--ports']}:{site['--ports']}"
    assert read_ports(site["--ports"])


def test_a_whole_pod256_fits_into_the_simulated_site() -> None:
    machines = next(each.machines for each in load().flavors if each.name == "m2000-pod256")
    assert int(options("simulator")["--machines"]) >= machines


def test_another_database_takes_the_place_of_the_own_one_by_one_variable() -> None:
    chosen = COMPOSE["services"]["database"]["extends"]["service"]
    assert DATABASES[default_of(chosen)]["volumes"]
    assert DATABASES[default_of(chosen, IPUCLOUD_DATABASE="db.example/ipucloud")]["scale"] == 0
    for name in PROGRAMS:
        for key, value in SERVICES[name].get("environment", {}).items():
            if key.endswith("DATABASE_URL"):
                url = default_of(value, IPUCLOUD_DATABASE="db.example:5433/cloud?sslmode=require")
                assert url.endswith("@db.example:5433/cloud?sslmode=require")


def test_the_proxy_opens_once_a_cluster_can_be_created() -> None:
    first = "service_completed_successfully"
    assert SERVICES["proxy"]["depends_on"]["inventory"]["condition"] == first
    assert SERVICES["inventory"]["depends_on"]["worker"]["condition"] == "service_healthy"
    assert SERVICES["inventory"]["depends_on"]["bootstrap"]["condition"] == first
    waited_for = {each for service in SERVICES.values() for each, how in depends(service) if how == first}
    assert waited_for == ONCE  # `up --wait` waits for the end of these, and takes that of others for a failure


def test_every_variable_is_described() -> None:
    page = (PROJECT / "docs" / "containers.md").read_text()
    rows = re.findall(r"^\| (`[A-Z0-9_`, ]+) \| ([^|]+) \|", page, re.MULTILINE)
    described = {
        name: value.strip(" `")
        for names, values in rows
        for name, value in zip(re.findall(r"\w+", names), re.split("[,;] (?=`)", values) * 3, strict=False)
    }
    defaults = dict(VARIABLES)
    assert described.keys() - {"COMPOSE_PROJECT_NAME"} == defaults.keys()
    explained = {"IPUCLOUD_SITE_URL", "IPUCLOUD_DATABASE", "IPUCLOUD_SECRETS_KEY"}
    secret = {name for name, value in VARIABLES if value.endswith("-trial")}
    assert {name: described[name] for name in defaults.keys() - explained - secret} == {
        name: value for name, value in defaults.items() if name not in explained | secret
    }


def depends(service: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, dependency["condition"]) for name, dependency in service.get("depends_on", {}).items()]


def test_a_second_project_collides_with_nothing() -> None:
    [network] = COMPOSE["networks"]["control"]["ipam"]["config"]
    other = dict.fromkeys(re.findall(r"\$\{(\w+)", str((SERVICES, network))), "1")
    names = ("subnet", "ip_range")
    assert all(default_of(network[name]) != default_of(network[name], **other) for name in names)
    for service in SERVICES.values():
        assert "container_name" not in service
        for port in service.get("ports", []):
            host = default_of(port).rsplit(":", 1)[0]
            assert host.endswith(":") or default_of(port, **other).rsplit(":", 1)[0] != host


@each_service
def test_a_service_has_known_keys_comes_back_and_what_it_waits_for_can_happen(name: str) -> None:
    assert set(SERVICES[name]) - KNOWN_KEYS == set()
    if name not in ONCE:
        assert SERVICES[name]["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}
        assert SERVICES[name]["restart"] == "unless-stopped"
    for target, desired_state in SERVICES[name].get("depends_on", {}).items():
        if desired_state["condition"] == "service_healthy":
            assert "healthcheck" in SERVICES[target]
        else:
            assert desired_state["condition"] == "service_completed_successfully"
            assert "restart" not in SERVICES[target]


@pytest.mark.parametrize(("name", "variable"), [("api1", "INTERNAL_PORT"), ("worker", "WORKER_INTERNAL_PORT")])
def test_health_is_asked_on_the_internal_listener(name: str, variable: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"] == ["CMD", "python", "-m", health.__name__, "/readyz"]
    assert health.LISTENERS[f"IPUCLOUD_{variable}"] == environment(name)[f"IPUCLOUD_{variable}"]


def test_internal_listeners_are_reachable_for_prometheus_alone() -> None:
    assert ip_address(Settings.model_fields["internal_host"].default).is_loopback
    assert all("IPUCLOUD" not in rest for word, rest in STAGES["service"] if word == "ENV")
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
    address = default_of(SERVICES["proxy"]["networks"]["control"]["ipv4_address"])
    assert {environment(name)["IPUCLOUD_TRUSTED_PROXIES"] for name in apis} == {address}
    idle = Settings.model_fields["idle_timeout"].default
    assert [float(seconds) < idle for seconds in re.findall(r"keepalive (\d+)s", CADDYFILE)] == [True]


def shell(script: str, folder: Path, **variables: str) -> None:
    """Run a shell command of the file, with the volume of the key at `folder`."""
    text = script.replace("$$", "$").replace(KEY_FOLDER, str(folder))
    subprocess.run(["sh", "-euc", text], env={"PATH": os.environ["PATH"], **variables}, check=True)


def test_the_secrets_key_is_made_once_and_given_to_every_process_that_needs_it(tmp_path: Path) -> None:
    make, file = SERVICES["key"]["command"][-1], tmp_path / "key"
    shell(make, tmp_path, IPUCLOUD_SECRETS_KEY="")
    key = file.read_text()
    assert read_keys(key)
    shell(make, tmp_path, IPUCLOUD_SECRETS_KEY="")
    assert file.read_text() == key
    own = f"{'B' * 43},{key}"
    for value in (own, ""):
        shell(make, tmp_path, IPUCLOUD_SECRETS_KEY=value)
        assert file.read_text() == own
    assert file.stat().st_mode & 0o077 == 0
    for name in ("api1", "api2", "worker"):
        assert environment(name)["IPUCLOUD_SECRETS_KEY_FILE"] == f"{KEY_FOLDER}/key"
        assert f"secrets:{KEY_FOLDER}:ro" in SERVICES[name]["volumes"]
        assert SERVICES[name]["depends_on"]["key"]["condition"] == "service_completed_successfully"


@pytest.mark.parametrize("name", ["api1", "api2"])
def test_an_api_is_published_on_a_port_of_its_own(name: str) -> None:
    [port] = SERVICES[name]["ports"]
    assert port == f"127.0.0.1::{environment(name)['IPUCLOUD_PORT']}"  # a free one


def test_images_are_pinned_and_ours_is_built_once() -> None:
    assert all(key.startswith("x-") for key in COMPOSE.keys() - {"name", "services", "volumes", "networks"})
    images = [default_of(service["image"]) for service in SERVICES.values()]
    images += [base for base in BASES if base not in STAGES]
    assert all(re.fullmatch(r"[\w./-]+:v?\d+(\.\d+)+(-[a-z-]+)?", image) for image in images), images
    built = {name: service["build"]["target"] for name, service in SERVICES.items() if "build" in service}
    assert built == {"migrate": "service", "simulator": "laboratory"}
    assert {service["image"] for service in OURS.values()} == {SERVICES[name]["image"] for name in built}
    assert {default_of(SERVICES[name]["image"]) for name in built} == {f"{each}{VERSION}" for each in IMAGES}


def test_files_and_volumes_named_exist() -> None:
    mounts = [volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])]
    mounts = [re.sub(r"^\./", "../../", source) for source in mounts]
    for source in mounts:
        assert (PROJECT / "deploy/compose" / source).exists() if "/" in source else source in COMPOSE["volumes"]
    copied = [rest.split()[:-1] for word, rest in INSTRUCTIONS if word == "COPY" and not rest.startswith("--from")]
    missing = [path for paths in copied for path in paths if not (PROJECT / path).exists()]
    assert not missing


def test_what_the_image_copies_is_not_ignored() -> None:
    allowed = {
        line.removeprefix("!") for line in (PROJECT / ".dockerignore").read_text().splitlines() if line.startswith("!")
    }
    copied = [rest.split()[:-1] for word, rest in INSTRUCTIONS if word == "COPY" and not rest.startswith("--from")]
    paths = [path for sources in copied for path in sources]
    assert {path if path in allowed else path.split("/")[0] for path in paths} == allowed


def test_the_image_takes_hashed_packages_only_and_runs_without_rights() -> None:
    installs = [
        part for word, rest in INSTRUCTIONS if word == "RUN" for part in rest.split("&&") if "pip install" in part
    ]
    assert installs
    assert all("--require-hashes" in part or "--no-index" in part for part in installs)
    for name in ("service", "laboratory"):
        assert [rest for word, rest in STAGES[name] if word == "USER"] == ["ipucloud"]
    [number] = {tuple(re.findall(r"--uid (\d+)", str(STAGES[name]))) for name in ("service", "laboratory")}
    assert number, "both have a user of one number, because they share volumes"
    [check] = [rest for word, rest in STAGES["service"] if word == "HEALTHCHECK"]
    assert check.endswith(f'CMD ["python", "-m", "{health.__name__}"]')


def test_the_laboratory_takes_the_ports_that_it_exposes() -> None:
    [exposed] = [rest.split() for word, rest in STAGES["laboratory"] if word == "EXPOSE"]
    [arguments] = [json.loads(rest) for word, rest in STAGES["laboratory"] if word == "CMD"]
    assert exposed == [str(Settings.model_fields["port"].default), arguments[-1]]
    assert arguments[:3] == ["ipucloud", "up", "--published"]
    assert str(Published.read(arguments[-1])) == options("simulator")["--ports"]


def test_grafana_finds_its_data_source_and_the_dashboard() -> None:
    folder = PROJECT / "deploy" / "grafana"
    mounts = dict(volume.split(":")[:2] for volume in SERVICES["grafana"]["volumes"])
    assert mounts["./deploy/grafana/provisioning"] == "/etc/grafana/provisioning"
    [source] = yaml.safe_load((folder / "provisioning/datasources/prometheus.yml").read_text())["datasources"]
    assert source["type"] == "prometheus"
    assert urlsplit(source["url"]).hostname in SERVICES
    [provider] = yaml.safe_load((folder / "provisioning/dashboards/ipucloud.yml").read_text())["providers"]
    shown = environment("grafana")["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert mounts["./deploy/grafana/ipucloud.json"] == shown
    assert Path(shown).parent == Path(provider["options"]["path"])
    dashboard = json.loads((folder / "ipucloud.json").read_text())
    [choice] = [each for each in dashboard["templating"]["list"] if each["type"] == "datasource"]
    assert choice["query"] == source["type"]
