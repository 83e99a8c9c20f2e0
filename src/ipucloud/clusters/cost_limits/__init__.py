"""Cost limits of tokens: what the clusters that a token has begun cost together.

Law: a request of such a token is refused unless its limit covers what they have cost and the next hour of all of them.
"""
