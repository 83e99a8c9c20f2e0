"""The registry of event types.

A type is stable: its `data` may gain members, but its meaning never changes. Types derived from states are listed
here; tests compare them with the state tables.

A request with a misspelt type is refused with suggestions.
"""
