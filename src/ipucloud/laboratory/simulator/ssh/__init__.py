"""Poplar servers: a real SSH server for every deployed host, on its own port, with its own key and its own disk.

Whatever a customer runs, runs in a sandbox of their server's own (`userland`), behind the wall that this machine has
(`confinement`); the server's own commands (`ipu_commands`) are called from there, and run in this process.
"""
