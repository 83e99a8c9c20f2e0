"""Invoices and credit notes, and what pays them: tax rates, promotional credits, wallets, payments.

Law: a document that was issued never changes. It is made once, in one transaction, from the charges of a sealed month,
and holds a copy of everything it says.
"""
