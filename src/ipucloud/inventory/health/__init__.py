"""What is wrong with machines and hosts. Law: `health`, `maintenance` and `allocatable` follow from the live reports."""
