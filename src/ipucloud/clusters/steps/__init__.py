"""The steps of operations on clusters. Each reads first, asks for what is missing, and succeeds by an observation."""
