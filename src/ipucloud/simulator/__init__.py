"""The simulated site: one process that speaks a real site's protocols and keeps its own state.

Its one law: it shares nothing with the control plane but `ipucloud.wire`. Everything it answers comes from its own
store, and an answer leaves only when what it tells is on disk.
"""
