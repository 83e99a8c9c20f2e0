"""`ipucloud demo`: what a customer does, done once on a system of its own."""
