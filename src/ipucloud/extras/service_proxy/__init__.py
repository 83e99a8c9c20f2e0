"""Requests through the API to the programs of services, over SSH. Law: what a program answers can do nothing to us."""
