"""Connections to where customers send us: webhooks' end-points and buckets' services.

Its one law: a connection goes to an address that was itself checked, never to a name. Everything here is the guard
against server-side request forgery; nothing else in the product decides about it.
"""
