"""What hardware shows of itself, and what an operator expects of it.

Law: what a site shows never changes what is expected. Only an operator does; until then what differs is a finding.
"""
