"""Capacity for a time to come.

Law: what a reservation promises it holds, from the transaction that makes it until it ends; it is billed for all of its
time, and the clusters that use it are not.
"""
