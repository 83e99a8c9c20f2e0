"""Customer commands. Each has --json, --project and --url, and reaches the service only over HTTP."""
