"""Jobs: programs that the service runs on Poplar servers, each start of one at most once.

Law: the start of a program has a committed row and a name, `job-<id>-<attempt>`, before anything is requested; the site
never starts a name twice. What is said of a job was observed there.
"""
