"""The checks of `ipucloud doctor`, from the stored settings to a cluster that can be logged in to."""

from __future__ import annotations

import base64
import binascii
import hashlib
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx

from ipucloud import __version__
from ipucloud.cli.session import Session
from ipucloud.client import clusters, projects, ssh_keys, tokens
from ipucloud.client.errors import ClientError
from ipucloud.client.models import Whoami
from ipucloud.client.profiles import chosen, profile_path
from ipucloud.client.transport import options

OK, WARNING, FAILED = "ok", "warning", "failed"
LIMIT_SECONDS = 10.0
"""For one response of the service, and for the SSH agent."""
CLOCK_SECONDS = 30.0
"""Largest difference of the clocks; the service's time is known to the second, and the response takes a while."""
CREATING = frozenset({"operator", "owner", "admin"})
"""Roles that may create clusters."""


@dataclass(frozen=True)
class Finding:
    """What a check found; `result` is ok, warning or failed."""

    check: str
    result: str
    found: str
    remedy: str | None = None


@dataclass
class _Checkup:
    """Checks in order; each but the first needs what earlier ones found."""

    session: Session
    findings: list[Finding] = field(default_factory=list)
    me: Whoami | None = None
    project: str | None = None

    def run(self) -> None:
        if self._profile() and self._service() and self._token():
            self._project()
        self._ssh()

    def next_step(self) -> str:
        for result in (FAILED, WARNING):
            for each in self.findings:
                if each.result == result and each.remedy:
                    return each.remedy
        if self.project is None or self.me is None:
            return "ipucloud projects list"
        if self.me.role in CREATING and not any(True for _ in self.session.client.items(clusters.list())):
            return "ipucloud clusters create bert --flavor m2000-pod4"
        return "ipucloud clusters list"

    def _add(self, check: str, result: str, detail: str, remedy: str | None = None) -> bool:
        self.findings.append(Finding(check, result, detail, None if result == OK else remedy))
        return result != FAILED

    def _profile(self) -> bool:
        session = self.session
        try:
            name, profile = chosen(session.environment, session.profile), session.configured
        except ClientError as error:
            return self._add("profile", FAILED, str(error))
        missing = [what for what, value in (("URL", profile.url), ("token", profile.token)) if value is None]
        path = profile_path(session.environment)
        if missing:
            return self._add(
                "profile", FAILED, f"{name} in {path} has no {' and no '.join(missing)}.", "ipucloud login"
            )
        variables = (
            []
            if session.profile
            else [key for key in ("IPUCLOUD_URL", "IPUCLOUD_TOKEN") if session.environment.get(key)]
        )
        source = f"{' and '.join(variables)}, before {name} in {path}" if variables else f"{name} in {path}"
        return self._add("profile", OK, source)

    def _service(self) -> bool:
        try:
            url = self.session.client.url
            with httpx.Client(timeout=LIMIT_SECONDS, **options(url)) as http:
                response = http.get(f"{url}/livez")
        except ClientError as error:
            return self._add("service", FAILED, str(error), "ipucloud login")
        except httpx.HTTPError as error:
            detail = f"{url} cannot be reached ({str(error) or type(error).__name__})."
            return self._add(
                "service", FAILED, detail, "Check the URL and the network; start the service if it is yours."
            )
        if not response.is_success:
            detail = f"{url} answers with status {response.status_code}."
            return self._add("service", FAILED, detail, "Check the URL: it may be that of another service.")
        self._add("service", OK, f"{url} answers")
        self._version(response)
        self._clock(response.headers.get("date"))
        return True

    def _version(self, response: httpx.Response) -> None:
        try:
            version = response.json()["version"]
        except (ValueError, LookupError, TypeError):
            version = "unknown"
        same = version == __version__
        detail = f"client {__version__}, service {version}"
        self._add("version", OK if same else WARNING, detail, "Install the client of the service's version.")

    def _clock(self, date: str | None) -> None:
        try:
            service_time = parsedate_to_datetime(date or "").astimezone(UTC)
        except (ValueError, OverflowError):
            detail = "The service does not tell its time."
            self._add("clock", WARNING, detail, "Look at what is between here and the service: its Date is no date.")
            return
        seconds = round((datetime.now(UTC) - service_time).total_seconds())
        apart = f"{abs(seconds)} s {'ahead of' if seconds > 0 else 'behind'} the service's"
        within = abs(seconds) <= CLOCK_SECONDS
        detail = "agrees with the service's" if within else f"this machine's clock is {apart}"
        self._add("clock", OK if within else WARNING, detail, "Synchronise this machine's clock, for example by NTP.")

    def _token(self) -> bool:
        try:
            self.me = self.session.run(tokens.whoami())
        except ClientError as error:
            return self._add("token", FAILED, str(error), "ipucloud login")
        name = f"{self.me.token.name} ({self.me.token.display_prefix}…)"
        return self._add("token", OK, f"{name}, role {self.me.role}")

    def _project(self) -> None:
        own = self.me.project.slug if self.me and self.me.project else None
        name = self.session.configured.project or own
        if name is None:
            remedy = "ipucloud login --project PROJECT; `ipucloud projects list` lists them."
            self._add("project", WARNING, "A platform token has no project of its own, and none is stored.", remedy)
            return
        try:
            self.project = self.session.run(projects.get(name)).slug
        except ClientError as error:
            self._add("project", FAILED, f"{name}: {error}", "ipucloud login --project PROJECT")
            return
        self._add("project", OK, self.project)

    def _ssh(self) -> None:
        program = shutil.which("ssh")
        detail, remedy = "The OpenSSH client (ssh) is not installed.", "Install it: package openssh-client or openssh."
        self._add("ssh", OK if program else FAILED, program or detail, remedy)
        keys = local_keys(self.session.environment)
        if not keys:
            self._add("ssh key", WARNING, "There is none in ~/.ssh or the SSH agent.", "ssh-keygen -t ed25519")
            return
        if self.project is None:
            self._add("ssh key", OK, ", ".join(keys.values()))
            return
        try:
            known = {key.fingerprint: key.name for key in self.session.client.items(ssh_keys.list())}
        except ClientError as error:
            self._add("ssh key", WARNING, str(error), "ipucloud ssh-keys list")
            return
        matching = [f"{where} is {known[key]}" for key, where in keys.items() if key in known]
        first = next(iter(keys.values()))
        detail = "; ".join(matching) or f"None of this machine's keys ({', '.join(keys.values())}) is in the project."
        self._add("ssh key", OK if matching else WARNING, detail, f"ipucloud ssh-keys create laptop {first}")


def checkup(session: Session) -> tuple[list[Finding], str]:
    """The findings, and what to do next."""
    checks = _Checkup(session)
    checks.run()
    return checks.findings, checks.next_step()


def local_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """The fingerprints of this user's public keys, each with its file, or its comment in the SSH agent."""
    return {fingerprint: where for line, where in _public_lines(environment) if (fingerprint := _fingerprint(line))}


def _public_lines(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if environment.get("SSH_AUTH_SOCK") and (program := shutil.which("ssh-add")):
        try:
            done = subprocess.run([program, "-L"], capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS)
            yield from ((line, "a key in the SSH agent") for line in done.stdout.splitlines())
        except (OSError, subprocess.TimeoutExpired):
            pass  # an agent that does not answer has no keys
    for path in sorted((Path.home() / ".ssh").glob("*.pub")):
        try:
            yield path.read_text(), f"~/.ssh/{path.name}"
        except (OSError, UnicodeDecodeError):
            continue


def _fingerprint(line: str) -> str | None:
    """SHA256:… of a public key's line, as ssh-keygen shows it; None for anything else."""
    try:
        _, key, *_ = line.split()
        digest = hashlib.sha256(base64.b64decode(key, validate=True)).digest()
    except (ValueError, binascii.Error):
        return None
    return f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"
