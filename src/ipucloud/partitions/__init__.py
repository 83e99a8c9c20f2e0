"""Partitions of a cluster's IPUs. Law: the controller is authoritative; only names with a committed row are changed."""
