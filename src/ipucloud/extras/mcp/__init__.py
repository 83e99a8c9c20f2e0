"""`ipucloud mcp`: the API as tools of the Model Context Protocol, over standard input and output.

Law: nothing that costs or destroys happens without a preview first, nor beyond the cost limit of the session's token,
which the service enforces. No result has a secret.
"""
