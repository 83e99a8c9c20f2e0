"""Prices. Law: a minute has the price in force when it starts; only a future end of a price may change."""
