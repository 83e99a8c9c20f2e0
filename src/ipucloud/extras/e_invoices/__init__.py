"""Invoices as PDF and as electronic ones. Law: they say what the issued document says, and nothing else."""
