"""The worker process: reconcilers and periodic tasks. Law: any number of workers may run, and any of them may die."""
