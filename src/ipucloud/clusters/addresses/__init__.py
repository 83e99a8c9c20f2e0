"""Addresses of projects: public ones that outlive clusters, through which one server at a time is reached by SSH."""
