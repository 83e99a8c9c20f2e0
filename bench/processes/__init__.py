"""What a run starts as processes of their own."""
