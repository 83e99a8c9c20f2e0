"""Poplar servers: a real SSH server for every deployed host, on its own port, with its own key and its own disk.

No text of a customer ever reaches this machine's shell, file system or network: commands are those of `commands` and
`ipu_commands`, paths lead into the server's disk, and forwarding is refused.
"""
