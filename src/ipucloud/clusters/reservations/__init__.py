"""Capacity for a time to come.

Law: what is reserved is held, from the transaction that makes it until it ends; it is billed for all of its
time, and the clusters that use it are not.
"""
