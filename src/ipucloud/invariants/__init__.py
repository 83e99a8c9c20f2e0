"""The rules that must always hold, as one list. Law: every repair is logged; where none is safe, the rule says why."""
