"""The simulated V-IPU controller: pure rules (`rules`, `blocks`, `devices`), a state machine, and its gRPC face.

One controller per region. State in one JSON file, changed only by `controller`; deadlines are stored, so nothing ticks.
"""
