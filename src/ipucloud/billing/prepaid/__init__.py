"""Prepaid accounts: funds, the policy for exhausted funds, and holds of creates.

Law: holds never exceed the available funds, however many creates run concurrently.
"""
