"""Two billed months of a project, for `ipucloud up --sample`.

One law: the product's own code makes everything, under a database clock that is moved; it is there whole, or not at all.
"""
