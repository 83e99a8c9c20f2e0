"""Who may do what: projects, tokens with roles, SSH keys. Law: a secret is stored only as its hash."""
