"""The cluster: its states, its plans, its steps. Law: requests record intent; only the reconciler moves state."""
