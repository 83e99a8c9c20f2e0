"""How many machines a project may hold, and requests for more.

Law: `used` changes only in the transaction that takes or returns them.
"""
