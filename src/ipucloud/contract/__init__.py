"""The shapes of the API, each declared once: what is sent, what is answered, and what lists are filtered by."""
