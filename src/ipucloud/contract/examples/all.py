"""Every example by its key."""

from __future__ import annotations

from collections.abc import Mapping

from ipucloud.contract.examples.clusters import CLUSTERS
from ipucloud.contract.examples.fields import FIELDS
from ipucloud.contract.examples.money import EXPORTS, MONEY
from ipucloud.contract.examples.operators import MESSAGES, OPERATORS
from ipucloud.contract.examples.people import PEOPLE

EXAMPLES: Mapping[str, object] = {**FIELDS, **CLUSTERS, **PEOPLE, **MONEY, **EXPORTS, **MESSAGES, **OPERATORS}
