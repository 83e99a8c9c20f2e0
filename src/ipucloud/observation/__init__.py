"""Reading the hardware of each region, and writing what is wrong with it.

Law: a site that does not answer makes nothing fail; only what it says does, and not before it said it twice.
"""
