"""Monthly budgets with notifications and actions. Law: a threshold fires once a month."""
