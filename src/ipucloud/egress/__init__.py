"""Connections to customers' destinations: webhook endpoints and bucket services.

Law: a connection goes to a checked address, never to a name. This package is the only protection against
server-side request forgery.
"""
