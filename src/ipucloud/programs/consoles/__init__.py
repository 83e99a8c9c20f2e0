"""The serial consoles of Poplar servers, boot by boot, as sites showed them.

Law: what a server wrote is its customer's, and untrusted: nothing here interprets it.
"""
