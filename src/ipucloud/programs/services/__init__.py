"""Services: programs that are kept running on Poplar servers, at most one program of a service at a time.

Law: that of `programs`; the next start gets a name only once the site showed that the one before has ended, or
that its server was off.
"""
