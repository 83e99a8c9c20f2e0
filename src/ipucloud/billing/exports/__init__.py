"""Cost exports. Law: a file is one snapshot of the ledger, named after its digest, complete or absent."""
