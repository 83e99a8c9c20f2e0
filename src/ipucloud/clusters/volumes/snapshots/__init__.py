"""Snapshots: copies of volumes, from which new volumes are made.

A site is asked for a snapshot under its own name, which is never used again; so a request that arrives late makes none.
A volume is not deleted while a snapshot of it is taken, nor a snapshot while a volume is made from it.
"""
