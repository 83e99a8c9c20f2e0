"""The operations on clusters: one module each, with its declaration and its request. Law: they never call a site."""
