"""The command line. Its law: customer commands (`commands`) know the service only by HTTP; those that run the service
(`service`) are loaded only when called."""
