"""Faults that customers report, until an operator has answered and the hardware was repaired.

Law: a report alone changes neither a cluster nor a bill. What follows from a confirmed one says its health report.
"""
