"""The engine: leases, fences, reconcile passes. Law: a result counts only under the fence it was made under."""
