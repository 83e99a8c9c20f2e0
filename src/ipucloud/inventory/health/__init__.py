"""What is wrong with hardware. Law: `health`, `maintenance` and `allocatable` follow from the live reports."""
