"""What a request asked for: an operation, its steps, its progress. Law: a terminal operation never changes."""
