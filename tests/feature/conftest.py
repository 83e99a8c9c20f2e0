"""A world without a site: the domain over a database of the test's own."""

from tests.support.world.fixtures import db, world

__all__ = ["db", "world"]
