"""What must always hold, as one list. Law: a rule names what breaks it; a heal is logged, or refuses with a reason."""
