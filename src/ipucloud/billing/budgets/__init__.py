"""Budgets: what a month may come to, who is told, what is refused then. Law: a threshold fires once a month."""
