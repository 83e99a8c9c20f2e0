"""Two billed months of a project, for `ipucloud up --sample`.

One law: the product's own code makes everything, under a database clock that is moved; all of it is there, or nothing.
"""
