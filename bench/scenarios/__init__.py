"""One file per question, enrolled by being here.

`run(stage, size)` gives the findings. `Size` has the sizes of bench/README.md as its defaults, and `SMALLEST` is the
least with which everything is done once, for the tests; `run(stage)` is enough where only the number of rounds can
vary. `lacks()` is for a scenario that needs more than the requirements: a sentence when this machine does not have it.
"""
