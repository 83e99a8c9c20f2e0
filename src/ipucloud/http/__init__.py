"""The HTTP server. Law: what a client can cost is bounded before the application hears of it."""
