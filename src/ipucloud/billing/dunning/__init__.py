"""Dunning: reminders of overdue invoices, and what an account may not do until they are paid."""
