"""Every call of the control plane to a site, as a case."""

from __future__ import annotations

from tests.proof.site_calls import addresses, hosts, region, storage, vipu

CASES = tuple(case for module in (region, hosts, vipu, storage, addresses) for case in module.CASES)
