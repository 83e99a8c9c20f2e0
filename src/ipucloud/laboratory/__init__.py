"""Everything that stands in for a real deployment on one machine: a simulated site, a PostgreSQL, and what keeps them.

Its one law: it knows the product and the product does not know it. Nothing in here runs in production.
"""
