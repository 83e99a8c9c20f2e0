"""How every process writes its log and how it ends: services, commands and the simulated site alike.

Law: it imports nothing of the product.
"""
