"""Ways in which preemptible clusters can be wrong, each planted alone."""

from __future__ import annotations

from ipucloud.invariants.repairing import Outcome
from tests.feature.invariants.corruption import corruption as _c

PREEMPTION = (
    _c(
        "preempted_cluster_was_told",
        Outcome.REFUSED,
        "INSERT INTO preemptions (id, project_id, cluster_id, preempt_at)"
        " VALUES (gen_random_uuid(), %(project)s, %(active)s, app_now() + interval '10 minutes')",
    ),
    _c(
        "preemptible_cluster_is_billed_as_such",
        Outcome.REFUSED,
        "UPDATE clusters SET preemptible = true WHERE id = %(active)s",
    ),
)
