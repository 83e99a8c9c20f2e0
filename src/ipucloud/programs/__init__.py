"""Programs on Poplar servers: what jobs and services have in common.

Law: each start of a program has a committed row and a name, `<kind>-<id>-<attempt>`, before anything is requested; the
site never starts a name twice, and what is said of a program was observed there.
"""
