"""One file per question; each `run(stage)` gives its findings."""
