"""The shapes of the API, each declared once: what is sent, what is answered, and what lists are filtered by.

Law: nothing here acts. Where PostgreSQL writes an answer, its SQL names the same members, and the API's tests compare
every answer with its shape.
"""
