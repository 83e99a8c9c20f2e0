"""One file per question, enrolled by being here.

`run(stage, size)` gives the findings. `Size` has the sizes of bench/README.md as its defaults, and `SMALLEST` is the
least with which everything is done once, for the tests; `run(stage)` is enough where only the number of rounds can
vary. `NEEDS` names what a machine may lack (`tests/support/machine.py`); the scenario is left out there.
"""
