"""Accounts that pay ahead: what they have left, what an empty wallet does, and what a create holds back.

Law: what is held is never more than what is available, however many create at once.
"""
