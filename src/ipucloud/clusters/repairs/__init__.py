"""When a cluster gets other hardware: because of a fault, or before its hardware is maintained.

Law: at most one repair of a cluster is scheduled or under way, and it is written under the cluster's lock.
"""
