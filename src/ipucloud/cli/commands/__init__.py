"""What a customer types. Every command takes --json, --project and --url, and reaches the service by HTTP alone."""
