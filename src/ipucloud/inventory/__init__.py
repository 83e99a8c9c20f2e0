"""Sites, pods, machines, hosts, and which cluster holds them. Law: a machine has at most one live allocation."""
