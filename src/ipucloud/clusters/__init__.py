"""The cluster: its states, plans and steps. Law: requests record intent; only the reconciler moves state."""
