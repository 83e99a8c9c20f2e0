"""The racks: sites, pods, machines, hosts, and who holds them. Law: a machine has at most one live allocation."""
