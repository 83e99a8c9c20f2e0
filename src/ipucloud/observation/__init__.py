"""Reading the hardware of each region, and writing what is wrong with it.

Law: a site that does not answer makes nothing fail; only what it reports does, and only when it has reported it twice.
"""
