"""The steps of operations on clusters. Each reads first, requests what is missing, and succeeds by an observation."""
