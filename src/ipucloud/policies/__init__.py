"""What begins operations without a request: expiry, idle stop, schedules, spend stops, waiting, preemption, repairs.

Law: a policy decides under the cluster's lock, from what is recorded, and asks for an operation as a request would.
"""
