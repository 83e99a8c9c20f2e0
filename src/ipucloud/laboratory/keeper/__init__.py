"""Programs as children of one process: started, restarted when they end, and never left behind."""
