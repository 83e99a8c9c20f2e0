"""Clusters that are suspended when nobody has used them for a while.

Law: unknown is not idle. Only an observation that is not older than `observation_expires`, of every Poplar
server, proves that nobody uses a cluster; it stands in the event.
"""
