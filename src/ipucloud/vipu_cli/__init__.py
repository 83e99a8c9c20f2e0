"""The `vipu` command, for customers outside (`ipucloud vipu`) and on simulated Poplar servers.

Law: it knows the controller's wire definitions and nothing else of the product; whoever runs it lends it a way to the
controller, an environment and places to write to.
"""
