"""Metrics of clusters over HTTP: series with their gaps, the text that Prometheus reads, and who may see them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ipucloud.programs.samples.store import Sample, forget_samples, record_samples
from tests.api.support import Api, faults_of, ok

pytestmark = pytest.mark.anyio


def sample(api: Api, cluster: UUID, **changes: Any) -> Sample:
    usual = Sample(
        project_id=api.world.project.id,
        cluster_id=cluster,
        machines=4,
        machines_answered=4,
        utilisation=80.0,
        power=1900.0,
        temperature=64.5,
        link_errors=7,
        attached_ipus=16,
        partitions=2,
        partitions_active=1,
        cpu=None,
        memory_used=None,
        memory=None,
    )
    return replace(usual, **changes)


async def record(api: Api, *samples: Sample, ago: float = 0.0) -> None:
    now = await api.world.value("SELECT app_now()")
    async with api.world.database.begin() as connection:
        await record_samples(connection, samples, read_at=now - timedelta(seconds=ago))


async def series(api: Api, cluster: UUID, **query: Any) -> dict[str, Any]:
    return ok(await api.owner.get(f"{api.base}/clusters/{cluster}/metrics", params=query))


async def test_a_step_without_an_observation_is_a_gap_and_not_zero(api: Api) -> None:
    cluster = await api.world.make_active()
    await record(api, sample(api, cluster), ago=600.0)
    await record(api, sample(api, cluster, utilisation=0.0, attached_ipus=0), ago=120.0)
    metrics = await series(api, cluster)
    assert (metrics["step"], metrics["cluster"]) == (60, str(cluster))
    assert len(metrics["points"]) in {60, 61}
    starts = [datetime.fromisoformat(each["at"]) for each in metrics["points"]]
    assert {later - earlier for earlier, later in pairwise(starts)} == {timedelta(minutes=1)}
    observed = [each for each in metrics["points"] if each["observed_at"] is not None]
    assert [each["utilisation_percent"] for each in observed] == [80.0, 0.0]
    assert [each["partition_uptime_percent"] for each in observed] == [50.0, 50.0]
    assert (observed[0]["power_watts"], observed[0]["link_errors"], observed[0]["cpu_percent"]) == (1900.0, 7, None)
    for each in observed:
        start = datetime.fromisoformat(each["at"])
        assert start <= datetime.fromisoformat(each["observed_at"]) < start + timedelta(minutes=1)
    gaps = [each for each in metrics["points"] if each["observed_at"] is None]
    assert {value for each in gaps for name, value in each.items() if name != "at"} == {None}


async def test_longer_steps_show_means_and_extremes(api: Api) -> None:
    cluster = await api.world.make_active()
    await record(api, sample(api, cluster, utilisation=90.0, temperature=70.0, machines_answered=3), ago=180.0)
    await record(api, sample(api, cluster, utilisation=30.0, link_errors=9), ago=60.0)
    whole = [each for each in (await series(api, cluster, step=86_400))["points"] if each["observed_at"]]
    if len(whole) == 1:  # not right after midnight
        [each] = whole
        assert (each["utilisation_percent"], each["temperature_celsius"]) == (60.0, 70.0)
        assert (each["machines_answered"], each["link_errors"]) == (3, 9)


async def test_of_a_minute_the_last_look_stays(api: Api) -> None:
    cluster = await api.world.make_active()
    now = await api.world.value("SELECT app_now()")
    into = now.second + now.microsecond / 1e6
    await record(api, sample(api, cluster, utilisation=10.0), ago=into + 30.0)
    await record(api, sample(api, cluster, utilisation=20.0), ago=into + 20.0)
    await record(api, sample(api, cluster, utilisation=30.0), ago=into + 40.0)
    points = (await series(api, cluster))["points"]
    assert [each["utilisation_percent"] for each in points if each["observed_at"]] == [20.0]


async def test_a_cluster_that_is_no_longer_in_use_is_not_recorded(api: Api) -> None:
    cluster = await api.world.make_active()
    await api.world.customer(api.world.project).delete(cluster)
    await record(api, sample(api, cluster))
    assert await api.world.value("SELECT count(*) FROM cluster_samples") == 0


@pytest.mark.parametrize(
    ("query", "pointer", "code"),
    [
        ({"since": "2026-05-04T10:00:00Z", "until": "2026-05-04T09:00:00Z"}, "?since", "not_a_period"),
        ({"since": "2999-01-01T00:00:00Z"}, "?since", "not_a_period"),
        ({"since": "2020-01-01T00:00:00Z", "step": "60"}, "?since", "too_many_points"),
        ({"since": "0001-01-01T00:00:00Z"}, "?since", "too_many_points"),
        ({"until": "0001-01-01T00:00:00Z"}, "?since", "not_a_period"),
        ({"step": "61"}, "?step", "multiple_of"),
        ({"step": "0"}, "?step", "greater_than_equal"),
    ],
)
async def test_a_period_that_cannot_be_shown_is_refused(
    api: Api, query: dict[str, str], pointer: str, code: str
) -> None:
    cluster = await api.world.make_active()
    assert faults_of(await api.owner.get(f"{api.base}/clusters/{cluster}/metrics", params=query)) == [(pointer, code)]


async def test_prometheus_reads_what_was_observed_last(api: Api) -> None:
    cluster, silent = await api.world.make_active(), await api.world.make_active("silent")
    await record(api, sample(api, cluster, utilisation=10.0), ago=70.0)
    await record(api, sample(api, cluster))
    await record(api, sample(api, silent), ago=400.0)
    answer = await api.owner.get(f"{api.base}/metrics")
    assert answer.status_code == 200
    other = await api.other_project()
    assert (await api.client(other.token.secret).get(f"/v1/projects/{other.id}/metrics")).text == ""
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    samples = {each.name: each for metric in text_string_to_metric_families(answer.text) for each in metric.samples}
    assert {each.labels["cluster_id"] for each in samples.values()} == {str(cluster)}
    values = {name.removeprefix("ipucloud_cluster_"): each.value for name, each in samples.items()}
    assert values.pop("observed_timestamp_seconds") > 0
    assert values == {
        "machines": 4,
        "machines_answered": 4,
        "attached_ipus": 16,
        "ipu_utilisation_ratio": 0.8,
        "ipu_power_watts": 1900,
        "ipu_temperature_celsius": 64.5,
        "link_errors_total": 7,
        "partitions": 2,
        "partitions_active": 1,
    }


async def test_what_is_older_than_the_retention_is_removed(api: Api) -> None:
    cluster = await api.world.make_active()
    await record(api, sample(api, cluster), ago=7200.0)
    await record(api, sample(api, cluster), ago=60.0)
    await forget_samples(api.world.database, kept=3600.0)
    assert await api.world.value("SELECT count(*) FROM cluster_samples") == 1
    observed = [each for each in (await series(api, cluster))["points"] if each["observed_at"]]
    assert len(observed) == 1
