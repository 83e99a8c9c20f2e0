"""How every process writes its log, keeps secrets in files, and ends: services, commands and the simulated site alike.

Law: it imports nothing of the product.
"""
