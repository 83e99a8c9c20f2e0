"""Cost exports. Law: a file is what one snapshot of the ledger says, is named after its bytes, whole or absent."""
