"""Version 1: one file per noun, each a router of thin handlers."""
