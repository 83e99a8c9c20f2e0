"""Pure foundations: time, ids, errors, money, transition tables. Imports nothing of ipucloud and does no I/O."""
