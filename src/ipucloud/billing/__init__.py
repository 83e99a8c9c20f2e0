"""What usage costs, and who pays. Law: minutes and costs are derived from intervals, never counted as time passes.

From the facts up: `metering` and `accounts`, `pricing`, `ledger`, `reports`, `invoices`, `budgets` and `prepaid`,
`exports`. `bookkeeping` is what a worker runs over all of them.
"""
