"""What a project holds beside clusters, such as volumes: the life that all of them have, and that of those which a
Poplar server can have.

Law: a site is asked for one under its own name, which is never used again, and to attach or detach it under a revision
that is committed first and only grows; so a request that arrives late changes nothing.
"""
