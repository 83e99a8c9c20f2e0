"""Volumes of projects: storage that outlives clusters, at most one server's at a time."""
