"""The `vipu` command, for remote use (`ipucloud vipu`) and on simulated Poplar servers.

Law: it depends only on the controller's wire definitions; its caller provides a connection to the controller, an
environment and outputs.
"""
