"""Addresses of projects: public ones that outlive clusters, through which one server at a time is reached by SSH.

Law: a site is asked for an address under its own name, which is never used again, and to attach or detach it under a
revision that is committed first and only grows; so a request that arrives late changes nothing.
"""
