"""Ways in which preemptible clusters can be wrong, each planted alone."""

from __future__ import annotations

from tests.feature.invariants.corruption import refused

PREEMPTION = (
    refused(
        "preempted_cluster_was_told",
        "INSERT INTO preemptions (id, project_id, cluster_id, preempt_at)"
        " VALUES (gen_random_uuid(), %(project)s, %(active)s, app_now() + interval '10 minutes')",
    ),
    refused("preemptible_cluster_is_billed_as_such", "UPDATE clusters SET preemptible = true WHERE id = %(active)s"),
)
