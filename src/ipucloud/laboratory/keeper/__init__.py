"""Programs as children of one process: started, started again when they end, and never left behind."""
