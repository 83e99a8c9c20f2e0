"""Schemas of the `data` of events, by what the events are about."""
