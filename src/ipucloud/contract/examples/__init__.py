"""Examples of fields. Law: they tell of one cluster, `bert`, on 4 May 2026 at 13:15 UTC, four hours after it is active.

Keys are names of fields, or `Model.field` where one model shows something else. An amount of money is given as text. A
field's own `examples` go before those of its name.
"""
