"""Volumes of projects: storage that outlives clusters, at most one server's at a time.

Law: a site is asked for a volume under its own name, which is never used again, and to attach or detach it under a
revision that is committed first and only grows; so a request that arrives late changes nothing.
"""
