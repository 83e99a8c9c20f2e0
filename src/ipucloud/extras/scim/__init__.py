"""SCIM 2.0 (RFC 7643, RFC 7644): the installation's identity provider keeps the people who have accounts.

It has the protocol's own shapes, errors and media type, so it is not in the OpenAPI document. Its law: nobody but a
token with the permission `person:provision` reads or changes anything here, and it gives nobody a membership.
"""
