"""Billing accounts. Law: at every hour exactly one account pays for a project."""
