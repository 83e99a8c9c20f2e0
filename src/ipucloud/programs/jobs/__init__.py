"""Jobs: programs that the service runs on Poplar servers, each start of one at most once.

Law: that of `programs`; a job's program is started again only after it failed, and only as often as was asked.
"""
