"""SQL of other packages' statements about health reports; views are as the migrations create them."""

from __future__ import annotations

from collections.abc import Iterable

from ipucloud.inventory.health.codes import PREVENTING_AUTOMATION, SUPPRESSING_ALERTS, Code

CITED_FAULTS = """
CREATE VIEW cited_faults WITH (security_invoker = true) AS
SELECT r.id, CASE WHEN r.machine_id IS NULL THEN 'poplar_server' ELSE 'machine' END AS kind, m.name AS machine, r.code,
       r.message, r.first_seen_at,
       CASE WHEN r.cleared_at IS NOT NULL THEN coalesce(r.good_since, r.cleared_at) END AS ended_at
  FROM health_reports r LEFT JOIN machines m ON m.id = r.machine_id
"""
"""What customers may know of a report: what failed, when it was first seen, and when its end was first seen."""


def read_lately(reading: str) -> str:
    """A condition: the row `reading` of `observations`, from a LEFT JOIN, still says something."""
    return f"coalesce({reading}.stale_at > app_now(), false)"


def answered_lately(controller: str) -> str:
    """The same of a V-IPU controller; true without one."""
    return f"coalesce({controller}.stale_at > app_now(), {controller}.name IS NULL)"


def shown_health(health: str, read: str, answered: str = "true") -> str:
    """The health of hardware for operators: `silent`, and not what it was last, when nobody could look for too long.

    `read` is whether its BMC or host was read lately, `answered` whether its V-IPU controller was. A fault that the BMC
    still shows is not hidden by a silent controller.
    """
    return f"CASE WHEN NOT {read} OR {health} = 'ok' AND NOT {answered} THEN 'silent' ELSE {health} END"


def automation_allowed(machine_id: str, host_id: str) -> str:
    """A condition: no person works on the hardware with these ids (SQL expressions, either may be NULL)."""
    return f"NOT {_reported(machine_id, host_id, PREVENTING_AUTOMATION)}"


def alerts_suppressed(machine_id: str, host_id: str) -> str:
    """A condition: what else is reported about the hardware raises no alert. Arguments as above."""
    return _reported(machine_id, host_id, SUPPRESSING_ALERTS)


def _reported(machine_id: str, host_id: str, codes: Iterable[Code]) -> str:
    return f"""EXISTS (
        SELECT FROM health_reports AS other
         WHERE (other.machine_id = {machine_id} OR other.host_id = {host_id}) AND other.cleared_at IS NULL
           AND other.confirmed_at IS NOT NULL AND other.code IN ({", ".join(f"'{code}'" for code in codes)}))"""
