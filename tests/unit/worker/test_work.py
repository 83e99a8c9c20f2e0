"""What a worker may have to do is found, though nothing imports it at the start."""

from __future__ import annotations

from inspect import signature
from unittest.mock import Mock

import pytest

from ipucloud.config import Settings
from ipucloud.reconcile.later import Later, LaterTask
from ipucloud.worker.reconcilers import Messages, Work, counted_anew, messages_counted_anew
from ipucloud.worker.tasks import periodic_tasks

SETTINGS = Settings(smtp_from="cloud@example.com", smtp_host="localhost")


def test_the_reconciler_of_each_kind_is_made() -> None:
    work = Work(Mock(), Mock(), SETTINGS, Mock(), Mock())
    all_kinds = [*work.reconcilers(), work.observed(), *Messages(SETTINGS, Mock()).reconcilers()]
    assert len({later.kind for later in all_kinds}) == len(all_kinds) > 15
    for later in all_kinds:
        assert later.reconciler.kind == later.kind


def test_one_that_is_made_for_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="for jobs is for volumes"):
        assert Later("jobs", lambda: Mock(kind="volumes")).reconciler


def test_each_task_takes_its_arguments() -> None:
    tasks = periodic_tasks(Mock(), SETTINGS, Mock())
    assert len({task.name for task in tasks}) == len(tasks) > 30
    for task in tasks:
        assert isinstance(task.run, LaterTask)
        signature(task.run.function).bind(database=None, **task.run.arguments)


def test_what_is_counted_anew_when_the_clock_was_set_back_is_found() -> None:
    assert counted_anew()
    assert messages_counted_anew()
