"""The command line. Law: customer commands (`commands`) reach the service only over HTTP; those that run the service
(`service`) are loaded only when called."""
