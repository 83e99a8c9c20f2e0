"""The API's schemas, each declared once: requests, responses and list filters.

Law: nothing here has side effects. Where PostgreSQL builds a response, its SQL names the same members; the API's tests
compare every response with its schema.
"""
