"""Invoices, credit notes, tax rates, promotional credits, wallets and payments.

Law: an issued document never changes. It is created once, in one transaction, from the charges of a sealed month,
and has copies of all its data.
"""
