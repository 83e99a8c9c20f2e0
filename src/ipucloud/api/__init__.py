"""The HTTP API. Law: a handler records intent in one transaction and never calls a site."""
