"""What was posted, and to whom: closed hours, charges, transfers, sealed months.

Law: money is only ever added. A charge or a transfer that was posted is never changed; what was wrong is made right by
another row.
"""
