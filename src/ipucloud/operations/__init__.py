"""The user's promise: an operation, its steps, its progress. Law: a terminal operation never changes."""
