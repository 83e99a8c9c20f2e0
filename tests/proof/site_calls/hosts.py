"""Calls for hosts: their servers, power, keys, programs and consoles."""

from __future__ import annotations

from ipucloud.site.calls import Call
from ipucloud.wire.site import JobRequest
from tests.proof import site_resources as resources
from tests.proof.site_calls.case import CallCase, no_object
from tests.proof.site_resources import REGION, Resource


def _program(resource: Resource) -> JobRequest:
    return JobRequest(server=resource.name, network=resource.name, generation=1, command=["true"])


def _host(resource: Resource) -> str:
    return resource.host


CASES = (
    CallCase("hosts.get", Call.GET_HOST, "http", lambda _, s, t: s.hosts.get(t.host), target=_host),
    CallCase("hosts.list", Call.LIST_HOSTS, "http", lambda _, s, _t: s.hosts.list(REGION), target=no_object),
    CallCase(
        "hosts.put_server",
        Call.PUT_SERVER,
        "http",
        lambda _, s, t: s.hosts.put_server(t.host, t.server),
        resources.network,
        observe=resources.server_is_there,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.delete_server",
        Call.DELETE_SERVER,
        "http",
        lambda _, s, t: s.hosts.delete_server(t.host, t.name),
        resources.server,
        observe=resources.server_is_there,
        makes=False,
        missing="ok",
        target=_host,
    ),
    CallCase(
        "hosts.switch_on",
        Call.POWER_HOST,
        "http",
        lambda _, s, t: s.hosts.switch_on(t.host, t.name, t.name, {}),
        resources.server_off,
        observe=resources.server_is_on,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.switch_off",
        Call.POWER_HOST,
        "http",
        lambda _, s, t: s.hosts.switch_off(t.host, t.name, t.name),
        resources.server,
        observe=resources.server_is_on,
        makes=False,
        target=_host,
    ),
    CallCase(
        "hosts.restart",
        Call.POWER_HOST,
        "http",
        lambda _, s, t: s.hosts.restart(t.host, t.name, t.name, boot_id=resources.BOOTS[t.host] or "", hard=True),
        resources.server_to_restart,
        observe=resources.has_restarted,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.put_keys",
        Call.PUT_KEYS,
        "http",
        lambda _, s, t: s.hosts.put_keys(t.host, t.name, t.name, [resources.KEY], revision=2),
        resources.server,
        observe=resources.has_keys,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.put_login_key",
        Call.PUT_LOGIN_KEY,
        "http",
        lambda _, s, t: s.hosts.put_login_key(t.host, "terminal-1", resources.login_key(t)),
        resources.server,
        observe=resources.login_key_logs_in,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.put_s3",
        Call.PUT_S3,
        "http",
        lambda _, s, t: s.hosts.put_s3(t.host, t.name, t.name, [resources.BUCKET], revision=1),
        resources.server,
        observe=resources.has_bucket,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.put_preemption",
        Call.PUT_PREEMPTION,
        "http",
        lambda _, s, t: s.hosts.put_preemption(t.host, t.name, t.name, resources.PREEMPT_AT, revision=1),
        resources.server,
        observe=resources.is_told,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.rebuild",
        Call.REBUILD_SERVER,
        "http",
        lambda _, s, t: s.hosts.rebuild(t.host, t.server.model_copy(update={"generation": 2}), disk="wipe"),
        resources.server,
        observe=resources.is_rebuilt,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.put_job",
        Call.PUT_JOB,
        "http",
        lambda _, s, t: s.hosts.put_job(t.host, "job-1", _program(t)),
        resources.server,
        observe=resources.job_is_known,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.get_job",
        Call.GET_JOB,
        "http",
        lambda _, s, t: s.hosts.get_job(t.host, "job-1", server=t.name, network=t.name, log_from=0),
        resources.server,
        missing="None",
        target=_host,
    ),
    CallCase(
        "hosts.stop_job",
        Call.STOP_JOB,
        "http",
        lambda _, s, t: s.hosts.stop_job(t.host, "job-1", server=t.name, network=t.name),
        resources.server,
        observe=resources.job_is_known,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.console",
        Call.GET_CONSOLE,
        "http",
        lambda _, s, t: s.hosts.console(t.host, t.name, t.name, after=0),
        resources.server,
        missing="None",
        target=_host,
    ),
)
