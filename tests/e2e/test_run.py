"""`ipucloud run`, `jobs` and `notebook` against a whole system: upload, output, results, exit status, tokens, kills."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from ipucloud.client import Client, NewCluster, clusters, events, images, invitations, me, members, ssh_keys
from tests.support.images import Registry, layer, running_registry, shell_layer
from tests.support.jupyter import JUPYTER, PIP
from tests.support.machine import Need, need, program
from tests.support.openssh import KeyPair, make_key
from tests.support.people import PASSWORD
from tests.support.processes import Ipucloud, Up, ipucloud_processes, up
from tests.support.waiting import eventually

SECONDS = 300


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> KeyPair:
    return make_key(tmp_path_factory.mktemp("key"))


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    with running_registry() as registry:
        yield registry


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory, key: KeyPair, registry: Registry) -> Iterator[Up]:
    need(Need.OPENSSH, Need.SANDBOX)
    folder = tmp_path_factory.mktemp("run")
    options = ("--time-scale", "0", "--insecure-registry", registry.host)
    with ipucloud_processes(folder) as started, up(started, folder / "data", *options) as running:
        with Client(running.facts["url"], running.facts["token"]) as client:
            client.run(ssh_keys.create("laptop", key.public_line))
            newest = max(client.items(images.list(region="luxembourg-2")), key=lambda image: image.release)
            bert = NewCluster(
                "bert", region="luxembourg-2", flavor="m2000-pod4", image=newest.name, ssh_keys=["laptop"]
            )
            client.wait(client.run(clusters.create(bert)), patience=float(SECONDS))
        yield running


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A directory with a program, in a name that needs quotes, and what is not sent."""
    folder = tmp_path / "my model"
    (folder / "data [1]").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x")
    (folder / ".venv").mkdir()
    (folder / ".venv" / "python").write_text("x")
    (folder / ".gitignore").write_text(".venv/\n.env\n")
    (folder / ".env").write_text("SECRET=1\n")
    (folder / "data [1]" / 'a "b".txt').write_text("3\n")
    (folder / "train.py").write_text(
        "import glob, os, sys\n"
        "[found] = glob.glob('data*/*')\n"
        "os.makedirs('results', exist_ok=True)\n"
        "open('results/loss', 'w').write(os.environ['SCALE'] + open(found).read())\n"
        "print('trained', *sys.argv[1:], os.path.exists('.git') or os.path.exists('.env'))\n"
        "sys.exit(4)\n"
    )
    return folder


def ipucloud(system: Up, *arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ipucloud.cli.main", *arguments]
    environment = system.environment | environment
    return subprocess.run(
        command, input=stdin, capture_output=True, text=True, check=False, timeout=SECONDS, env=environment
    )


def without_rsync(folder: Path) -> str:
    """A search path with OpenSSH's programs only."""
    folder.mkdir(exist_ok=True)
    for name in ("ssh", "scp", "sftp"):
        (folder / name).symlink_to(program(name))
    return str(folder)


def test_a_program_runs_with_its_files_from_upload_to_results(
    system: Up, key: KeyPair, work: Path, tmp_path: Path
) -> None:
    path = without_rsync(tmp_path / "bin")
    common = ["-i", str(key.private), "--sync", str(work), "--get", f"results:{tmp_path}", "--env", "SCALE=2"]
    run = ipucloud(
        system, "run", "--flavor", "m2000-pod4", "--name", "ernie", *common, "--max-cost", "50EUR", "--",
        "python3", "train.py", "--epochs", "3", PATH=path,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (4, "trained --epochs 3 False\n"), run.stderr
    assert re.search(r"Sent 3 of 3 files \(\d+ bytes\) by sftp\. Ignored: \.venv/, \.env\.", run.stderr), run.stderr
    assert "Job 1 failed (exit status 4)" in run.stderr
    assert (tmp_path / "results" / "loss").read_text() == "23\n"
    (work / "train.py").write_text("print('better')\n")
    again = ipucloud(system, "run", "--cluster", "ernie", *common, "--", "python3", "train.py", PATH=path)
    assert (again.returncode, again.stdout) == (0, "better\n"), again.stderr
    assert "Sent 1 of 3 files (16 bytes) by sftp." in again.stderr
    held = ipucloud(
        system, "run", "--cluster", "ernie", "--json", "--", "ipu-run", "--num-ipus", "4", "--", "gc-monitor", "--json"
    )
    assert '"state": "succeeded"' in held.stdout, held.stderr
    assert '"command": "gc-monitor"' in ipucloud(system, "jobs", "logs", "ernie", "3").stdout


def test_a_large_upload_is_asked_about_before_anything_is_created(system: Up, key: KeyPair, tmp_path: Path) -> None:
    (large := tmp_path / "large").mkdir()
    (large / "data").touch()
    os.truncate(large / "data", 1_100_000_000)
    for place in (("--flavor", "m2000-pod4", "--name", "never"), ("--cluster", "bert", "-i", str(key.private))):
        refused = ipucloud(system, "run", *place, "--sync", str(large), "--", "true")
        assert refused.returncode == 2
        assert "No terminal to confirm on; add --yes to send 1.1 GB of" in refused.stderr
    assert "never" not in ipucloud(system, "clusters", "list").stdout


def test_a_member_without_a_key_logs_in_with_a_certificate_until_they_are_removed(system: Up, tmp_path: Path) -> None:
    with Client(system.facts["url"], system.facts["token"]) as client:
        invited = client.run(invitations.create("ada@example.com", "operator"))
        client.run(invitations.accept(str(invited.secret), PASSWORD))
        login = client.run(me.log_in("ada@example.com", PASSWORD))
        hers = {
            "IPUCLOUD_TOKEN": str(login.token),
            "HOME": str(tmp_path),
            "IPUCLOUD_CONFIG_DIR": str(tmp_path / "config"),
        }
        first = ipucloud(system, "clusters", "ssh", "bert", "--", "echo here", **hers)
        assert (first.returncode, first.stdout) == (0, "here\n"), first.stderr
        (work := tmp_path / "work").mkdir()
        (work / "a.txt").write_text("a")
        ran = ipucloud(system, "run", "--cluster", "bert", "--sync", str(work), "--", "cat", "a.txt", **hers)
        assert (ran.returncode, ran.stdout) == (0, "a"), ran.stderr
        issued = [event.data for event in client.items(events.list(type="ssh_certificate.issued"))]
        assert [each["key_id"] for each in issued] == ["ada@example.com#1"]
        [member] = [each for each in client.items(members.list()) if each.email == "ada@example.com"]
        client.run(members.delete(member.id))
    assert ipucloud(system, "clusters", "ssh", "bert", "--", "true", **hers).returncode != 0


def test_a_program_runs_in_an_image_of_a_closed_registry_with_the_files_of_the_server(
    system: Up, key: KeyPair, registry: Registry, tmp_path: Path
) -> None:
    registry.login = ("ci", "hunter2-of-the-registry")
    registry.push("train:1", [shell_layer(), layer({"model": "from the image"})], {"Env": ["A=of the image"]})
    image = registry.reference("train:1")
    (work := tmp_path / "data").mkdir()
    (work / "input").write_text("from here\n")
    script = (
        'read -r there < /model; read -r here < input; echo "$there, $here, $A" | while read -r x; do echo $x; done'
    )
    command = ["run", "--cluster", "bert", "-i", str(key.private), "--image", image]
    program_of = ["--sync", str(work), "--", "sh", "-c", f"{script}; echo done > output"]
    ran = ipucloud(
        system, *command, "--registry-user", "ci", "--get", f"output:{tmp_path}", *program_of,
        stdin="hunter2-of-the-registry\n",
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "from the image, from here, of the image\n"), ran.stderr
    assert (tmp_path / "output").read_text() == "done\n"
    refused = ipucloud(system, *command, "--registry-user", "ci", *program_of, stdin="wrong\n")
    assert refused.returncode == 1
    assert "the user name and password are not accepted" in refused.stderr
    number = json.loads(ipucloud(system, "jobs", "list", "bert", "--json").stdout)[0]["number"]
    shown = json.loads(ipucloud(system, "jobs", "show", "bert", str(number), "--json").stdout)
    assert (shown["image"], shown["registry_username"], shown["ended_by"]) == (image, "ci", "site")
    assert ipucloud(system, *command[:-1], "Not/An/Image", "--", "true").returncode == 2


def test_a_recipe_of_the_model_garden_runs_to_its_end(system: Up, key: KeyPair, tmp_path: Path) -> None:
    ran = ipucloud(
        system, "recipes", "run", "digits", "--name", "digits", "-i", str(key.private), "--env", "EPOCHS=2",
        "--get", f"results:{tmp_path}", "--max-minutes", "30", "--then", "delete",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "m2000-pod4, the smallest that digits runs on, costs 0.0625 EUR a minute" in ran.stderr
    assert "digits" not in ipucloud(system, "clusters", "list").stdout
    first, last = (float(loss) for loss in re.findall(r"^epoch \d+: loss ([0-9.]+)", ran.stdout, re.MULTILINE))
    assert last < first
    assert "> 2 epochs" in ran.stdout
    assert json.loads((tmp_path / "results" / "model.json").read_text())["accuracy"] > 0.5
    refused = ipucloud(system, "recipes", "run", "whisper", "--cluster", "bert")
    assert refused.returncode == 2
    assert "recipes list --runnable" in refused.stderr


def test_a_job_survives_its_client_and_the_service(system: Up, key: KeyPair) -> None:
    script = "echo begun >> begun; echo up; while [ ! -e go ]; do sleep 0.1; done; wc -l < begun"
    command = [sys.executable, "-m", "ipucloud.cli.main", "run", "--cluster", "bert", "--", "sh", "-c", script]
    with subprocess.Popen(command, env=system.environment, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == "up\n"
        started.kill()
    number = ipucloud(system, "jobs", "list", "bert", "--state", "running", "--json").stdout
    job = number.partition('"number": ')[2].partition(",")[0]
    processes: Ipucloud = system.ipucloud
    for name in ("worker", "api"):
        for pid in processes.pids(name):
            os.kill(pid, signal.SIGKILL)
    follower = [sys.executable, "-m", "ipucloud.cli.main", "jobs", "logs", "bert", job, "--follow"]
    eventually(system.answers, "the service answers again")
    with subprocess.Popen(follower, env=system.environment, stdout=subprocess.PIPE, text=True) as followed:
        gone = ipucloud(system, "clusters", "ssh", "bert", "-i", str(key.private), "--", "touch", "go")
        assert gone.returncode == 0, gone.stderr
        assert followed.communicate(timeout=SECONDS)[0] == "up\n1\n"
    shown = ipucloud(system, "jobs", "show", "bert", job)
    assert "succeeded" in shown.stdout
    waiting = ipucloud(system, "run", "--cluster", "bert", "--detach", "--then", "keep", "--", "sleep", "100000")
    assert waiting.returncode == 0, waiting.stderr
    assert "stop requested" in ipucloud(system, "jobs", "stop", "bert", str(int(job) + 1)).stdout
    ended = ipucloud(system, "jobs", "logs", "bert", str(int(job) + 1), "--follow")
    assert ended.returncode == 0
    assert "stopped" in ipucloud(system, "jobs", "list", "bert").stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--", "true"), "Name a cluster with --cluster, or a flavor"),
        (("--cluster", "bert", "--flavor", "x", "--", "true"), "Name a cluster with --cluster, or a flavor"),
        (("--cluster", "bert", "--get", "results", "--", "true"), "REMOTE:LOCAL"),
        (("--cluster", "bert", "--env", "1=2", "--", "true"), "NAME=VALUE"),
        (("--cluster", "bert", "--max-cost", "much", "--", "true"), "such as 20EUR"),
        (("--cluster", "bert", "--detach", "--then", "delete", "--", "true"), "leave out --detach"),
        (("--cluster", "bert", "--server", "7", "--", "true"), "has 1 servers"),
        (("--cluster", "bert", "--max-cost", "5JPY", "--", "true"), "paid for in EUR"),
        (("--cluster", "nobody", "--", "true"), "nobody"),
    ],
)
def test_what_cannot_run_is_refused(system: Up, arguments: tuple[str, ...], says: str) -> None:
    refused = ipucloud(system, "run", *arguments)
    assert refused.returncode in {2, 3}
    assert says in " ".join(refused.stderr.split())


def on_server(system: Up, key: KeyPair, command: str, *, stdin: str = "") -> str:
    there = [
        sys.executable,
        "-m",
        "ipucloud.cli.main",
        "clusters",
        "ssh",
        "bert",
        "-i",
        str(key.private),
        "--",
        command,
    ]
    done = subprocess.run(
        there, input=stdin, capture_output=True, text=True, check=False, timeout=SECONDS, env=system.environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def notebook(
    system: Up, key: KeyPair, *options: str, **environment: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A running `ipucloud notebook bert`, and its URL."""
    command = [sys.executable, "-m", "ipucloud.cli.main", "notebook", "bert", "-i", str(key.private), *options]
    with subprocess.Popen(
        command, env=system.environment | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as started:
        assert started.stdout is not None
        try:
            yield started.stdout.readline().strip(), started
        finally:
            started.terminate()


def ended(started: subprocess.Popen[str]) -> tuple[int, str]:
    """Its status and what it said, once it got Ctrl-C."""
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=SECONDS)
    return started.returncode, said


@pytest.fixture(scope="module")
def jupyter(system: Up, key: KeyPair) -> None:
    """The server can install a stand-in for JupyterLab."""
    without = ipucloud(system, "notebook", "bert", "-i", str(key.private))
    assert without.returncode == 2
    assert "no JupyterLab. Install it with `ipucloud notebook bert --install`" in " ".join(without.stderr.split())
    on_server(system, key, "cat > pip.py", stdin=PIP)
    on_server(system, key, "cat > jupyter.py", stdin=JUPYTER)
    with notebook(system, key, "--install") as (url, started):
        assert url, started.communicate()[1]
        assert ended(started)[0] == 0


@pytest.mark.usefixtures("jupyter")
def test_a_notebook_is_reached_with_its_token_until_it_is_ended(system: Up, key: KeyPair, tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/address\ncp "${{1#file://}}" {tmp_path}/page\n')
    browser.chmod(0o755)
    with notebook(system, key, "--open", BROWSER=f"{browser} %s") as (url, started):
        assert url, started.communicate()[1]
        assert httpx.get(url).text == "bert-p0"
        bare, _, token = url.partition("?token=")
        assert httpx.get(bare).status_code == 403
        eventually(lambda: url in contents(tmp_path / "page"), "the browser opens the page")
        shown = [
            (tmp_path / "address").read_text(),
            *(ipucloud(system, *each).stdout for each in (
                ("services", "show", "bert", "notebook", "--json"), ("services", "logs", "bert", "notebook"),
                ("services", "list", "bert", "--json"), ("events", "--json"),
            )),
            on_server(system, key, "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null || true"),
            *(contents(each) for each in Path("/proc").glob("[0-9]*/cmdline")),
        ]  # fmt: skip
        assert "jupyter" in shown[1]
        assert not [each for each in shown if token in each]
        assert on_server(system, key, "stat -c %a .ipucloud .ipucloud/notebook.token").split() == ["700", "600"]
        with notebook(system, key, "--json", "--keep") as (again, second):
            new_url = json.loads(again)["url"]
            assert new_url.endswith(token)
            assert new_url != url
            assert httpx.get(new_url).text == "bert-p0"
            status, said = ended(second)
            assert (status, "The notebook goes on. To reach it again: ipucloud notebook bert" in said) == (0, True)
        assert httpx.get(url).text == "bert-p0"
        status, said = ended(started)
        assert (status, "The notebook was stopped" in said) == (0, True)
    eventually(
        lambda: '"state": "stopped"' in ipucloud(system, "services", "show", "bert", "notebook", "--json").stdout,
        "the notebook ends",
    )
    assert on_server(system, key, "ls .ipucloud") == ""


@pytest.mark.usefixtures("jupyter")
def test_a_notebook_that_does_not_work_says_why(system: Up, key: KeyPair) -> None:
    on_server(system, key, "printf refuse > broken")
    refusing = ipucloud(system, "notebook", "bert", "-i", str(key.private), "--name", "refusing", "--port", "8900")
    assert refusing.returncode == 1
    assert "refuses the notebook's token: a configuration in ~/.jupyter" in " ".join(refusing.stderr.split())
    on_server(system, key, "printf exit > broken")
    exiting = ipucloud(system, "notebook", "bert", "-i", str(key.private), "--name", "exiting", "--port", "8901")
    assert exiting.returncode == 1
    assert "The notebook has ended: exit status 1; started 4 times in a row." in " ".join(exiting.stderr.split())
    assert "it is broken" in ipucloud(system, "services", "logs", "bert", "exiting").stdout
    on_server(system, key, "rm broken")
    other = ipucloud(
        system, "serve", "--cluster", "bert", "--name", "other", "--port", "8902", "-d", "--", "sleep", "9999"
    )
    assert other.returncode == 0, other.stderr
    refused = ipucloud(system, "notebook", "bert", "-i", str(key.private), "--name", "other")
    assert refused.returncode == 2
    assert "The service other of cluster bert is no notebook." in " ".join(refused.stderr.split())
    port_in_use = ipucloud(system, "notebook", "bert", "-i", str(key.private), "--port", "8902")
    assert port_in_use.returncode == 5
    assert "The service other has port 8902" in " ".join(port_in_use.stderr.split())
    assert on_server(system, key, "ls .ipucloud") == ""
    ipucloud(system, "services", "stop", "bert", "other")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nobody",), "nobody"),
        (("bert", "--server", "7"), "has 1 servers"),
        (("bert", "--name", "../x y"), "no DNS label"),
        (("bert", "--port", "80"), "--port"),
    ],
)
def test_a_notebook_that_cannot_be_is_refused(system: Up, arguments: tuple[str, ...], says: str) -> None:
    refused = ipucloud(system, "notebook", *arguments)
    assert refused.returncode in {2, 3}
    assert says in " ".join(refused.stderr.split())


def test_a_local_port_that_is_taken_is_refused(system: Up) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = str(listener.getsockname()[1])
        refused = ipucloud(system, "notebook", "bert", "--local-port", port)
    assert refused.returncode == 2
    assert f"Port {port} of this machine is taken" in " ".join(refused.stderr.split())


def contents(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""
