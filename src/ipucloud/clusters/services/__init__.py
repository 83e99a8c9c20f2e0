"""Services: programs that are kept running on Poplar servers, at most one program of a service at a time.

Law: each start of the program has a committed row and a name, `service-<id>-<attempt>`, before anything is requested,
and the next one gets a name only once the site showed that the one before has ended, or that its server was off.
"""
