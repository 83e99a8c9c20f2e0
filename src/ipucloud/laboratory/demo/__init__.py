"""`ipucloud demo`: a customer's workflow, run once on a temporary system."""
