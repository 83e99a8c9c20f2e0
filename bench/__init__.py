"""Benchmarks: ratios measured side by side in one run. Law: no number is a verdict of its own; only ratios travel."""
