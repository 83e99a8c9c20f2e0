"""Stand-ins for a real deployment on one machine: a simulated site, a PostgreSQL, and the keeper of both.

Law: it depends on the product, never the reverse. Nothing in it runs in production.
"""
