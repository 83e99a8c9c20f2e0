"""Names under which tests of the API import the world."""

from tests.support.world import IMAGE, authentication, cluster_body
from tests.support.world import World as Cloud
from tests.support.world.clock import shift_clock, start_clock, stop_clock

__all__ = ["IMAGE", "Cloud", "authentication", "cluster_body", "shift_clock", "start_clock", "stop_clock"]
