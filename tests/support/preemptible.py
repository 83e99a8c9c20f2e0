"""Preemptible clusters as tests ask for them."""

from __future__ import annotations

from functools import partial

from tests.support.factories import offer

PREEMPTIBLE = "ipu-m2000-preemptible"
offer_preemptible = partial(offer, sku=PREEMPTIBLE, unit_price="0.02")
