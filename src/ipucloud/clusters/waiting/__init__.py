"""Clusters whose create waits for capacity.

Law: a cluster that waits holds nothing: no machine, no quota, no funds. All of it is taken in one transaction when its
turn has come, as a create without waiting takes it (ADR 22).
"""
