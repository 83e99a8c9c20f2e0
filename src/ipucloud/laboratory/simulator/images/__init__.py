"""Container images: from a registry, or from an engine on this machine, to a folder that a sandbox has as its root.

Law: nothing of an image is trusted. What arrives is bounded and its digest is compared; it is unpacked by a process of
its own, below one folder; and its programs run behind the wall of the server that asked for it.
"""
