"""Poplar servers: a real SSH server for every deployed host, on its own port, with its own key and its own disk.

No text of a customer ever reaches this machine's shell, file system or network. Commands run in a sandbox of their
server's own (`userland`), or, where there can be none, in the built-in shell: its commands are those of `commands` and
`ipu_commands`, and its paths lead into the server's disk.
"""
