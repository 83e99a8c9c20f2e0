"""Validation of machines that no cluster holds, before a cluster gets them: a cluster test at their V-IPU controller.

Law: it touches only machines that its own record keeps from every cluster, under a name that is never used again, and
gives them back only when they were observed cleared, later than any of its requests can take effect.
"""
