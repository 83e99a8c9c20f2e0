"""The HTTP server. Law: a client's cost is bounded before the application sees a request."""
