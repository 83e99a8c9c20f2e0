"""Jobs as the API shows them."""

from __future__ import annotations

from ipucloud.db.documents import money
from ipucloud.programs.queries import Documents

JOB_DOCUMENTS = Documents(
    "jobs",
    "job_logs",
    "job_id",
    chosen="(number::text = :ref OR id::text = lower(:ref))",
    members=f"""
    'number', page.number, 'retries', page.retries, 'max_minutes', page.max_minutes,
    'max_cost', {money("page.max_cost", "page.currency")}, 'cost', {money("page.cost", "page.currency")}
    """,
)
"""A job's `:ref` is its number or its id."""
