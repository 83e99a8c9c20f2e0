"""Usage intervals and their minutes. Law: a minute belongs to the interval in which it starts."""
