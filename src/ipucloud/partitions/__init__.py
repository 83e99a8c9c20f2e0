"""Partitions of a cluster's IPUs. Law: the controller is the truth, and only names with a committed row are touched."""
