"""Terminals: shells on Poplar servers for which the API logs in with a key of its own.

Law: a row with the public key is committed before a site is told of it, and the site ends the key by itself; the
private key is in the memory of one API process only. So a process that is killed leaves no key that anybody can use.
"""
