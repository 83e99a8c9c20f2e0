"""Clusters asked for at once, one worker, a site that takes no time: do all become active, and what takes time?"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass

import psycopg

from bench.child import cpu_seconds
from bench.finding import Finding, at_least
from bench.stage import Stage
from bench.workers import request_clusters, start_worker
from ipucloud.clusters.operations.create import CREATE
from tests.support.site import running_site

PATIENCE = 120.0
PHASES = ("act", "load", "apply", "commit")
"""Of a step. When the commit of the last one ended is not known: no pass comes after it."""
PROGRAM = ("-m", "bench.processes.timed_worker")
SETTINGS = {"site_poll_interval": 0.1}
"""A step that waits checks again soon: the site is never more than a moment behind."""

_PROGRESS = """
SELECT count(*) FILTER (WHERE clusters.state = 'active') AS active,
       count(*) FILTER (WHERE operations.finished_at IS NULL) AS open,
       extract(epoch FROM sum(coalesce(clusters.ready_at, app_now()) - clusters.created_at))::float AS lives,
       extract(epoch FROM max(clusters.ready_at) - min(clusters.created_at))::float AS together
  FROM clusters JOIN operations ON operations.cluster_id = clusters.id
"""


@dataclass(frozen=True, slots=True)
class Size:
    clusters: int = 200


SMALLEST = Size(clusters=2)

Spent = dict[str, dict[str, float]]


def run(stage: Stage, size: Size) -> list[Finding]:
    """Raises ValueError when no cluster became active: nothing was measured."""
    clusters = size.clusters
    with (
        stage.database() as urls,
        running_site(stage.folder / "burst-site", machines=clusters, time_scale=0.0) as site,
        start_worker(stage.folder, urls.app_url, site, SETTINGS, PROGRAM) as worker,
        psycopg.connect(urls.app_url, autocommit=True) as connection,
    ):
        asyncio.run(request_clusters(urls.app_url, site, clusters))
        deadline = time.monotonic() + PATIENCE
        active, unfinished, lives, together = _progress(connection)
        while unfinished and time.monotonic() < deadline:
            time.sleep(0.1)
            active, unfinished, lives, together = _progress(connection)
        busy = {"worker CPU s": cpu_seconds(worker.pid), "site CPU s": cpu_seconds(site.pid)}
        spent: Spent = json.loads(worker.terminate_and_read())
    if not active:
        raise ValueError(f"none of {clusters} clusters was active after {PATIENCE:g} s")
    whole = Finding(
        f"of {clusters} clusters asked for at once, active",
        100 * active / clusters,
        "%",
        goal=at_least(100),
        numbers={"all after s": together, "clusters/s": active / together} | busy,
    )
    return [whole, *_shares(spent, lives, clusters), *_steps(spent, clusters)]


def _shares(spent: Spent, lives: float, clusters: int) -> list[Finding]:
    """What a cluster's time from request to active consists of, in percent."""
    site = sum(step["act"] for step in spent.values())
    database = sum(step["load"] + step["apply"] + step.get("commit", 0.0) for step in spent.values())
    mean = {"mean ms": lives / clusters * 1e3}
    return [
        Finding("a cluster's time: in the queue", 100 * (lives - site - database) / lives, "%", numbers=mean),
        Finding("a cluster's time: database", 100 * database / lives, "%"),
        Finding("a cluster's time: calls to the site", 100 * site / lives, "%"),
    ]


def _steps(spent: Spent, clusters: int) -> list[Finding]:
    """Milliseconds per cluster in each step that it has, queueing left out."""
    findings = []
    for step in CREATE.steps:
        if step.name not in spent:
            continue
        seconds = spent[step.name]
        by_phase = {f"{phase} ms": seconds[phase] / clusters * 1e3 for phase in PHASES if phase in seconds}
        passes = {"passes": seconds["passes"] / clusters}
        findings.append(Finding(f"step {step.name}", sum(by_phase.values()), "ms", numbers=by_phase | passes))
    return findings


def _progress(connection: psycopg.Connection) -> tuple[int, int, float, float]:
    row = connection.execute(_PROGRESS.encode()).fetchone()
    assert row is not None
    active, unfinished, lives, together = row
    return active, unfinished, lives or 0.0, together or float("inf")
