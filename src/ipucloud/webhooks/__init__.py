"""Webhooks: what happened, told to customers' own servers. Law: at least once, under one id, and never to a private
address."""
