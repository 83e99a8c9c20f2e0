"""Posted money: closed hours, charges, transfers, sealed months.

Law: rows are only added. A posted charge or transfer is never changed; errors are corrected by further rows.
"""
