"""Routes for operators of the service: everything below /v1/operator."""
