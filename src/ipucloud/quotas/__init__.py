"""How many machines a project may hold. Law: `used` changes only in the transaction that takes or returns them."""
