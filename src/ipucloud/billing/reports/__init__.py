"""What was charged, what a month will come to, and why. Law: a report is the sum of posted charges, not rounded."""
