"""Answers of requests that carried an Idempotency-Key. Law: one is stored in the transaction of its effect."""
