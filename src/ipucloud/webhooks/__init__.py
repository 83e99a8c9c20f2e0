"""Webhooks: events sent to customers' servers. Law: at least once, with one id, and never to a private address."""
