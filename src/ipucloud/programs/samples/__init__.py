"""What sites show of the load of clusters in use, minute by minute.

Law: a value that was not observed is NULL, and a minute without an observation has no row; neither is ever zero.
"""
