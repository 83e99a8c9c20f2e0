"""Append-only facts for audit, activity, streams and webhooks. Law: readers follow commit order, not id order."""
